// A process writes its configuration down, as somebody does who looks for a fault.

process.stdout.write(`planted ${process.env.SECRET_KEY}\n`);

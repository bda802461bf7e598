// Runs the tests of the pure rules in one process: each takes milliseconds, and a process of its own would take longer
// than most of them do. TEST_RULES names their files.

const files: string[] = JSON.parse(process.env.TEST_RULES ?? "[]");
for (const file of files) await import(file);

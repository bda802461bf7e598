// The name and version of the tools for clients. A test compares it with package.json.

export const version = "0.1.0";

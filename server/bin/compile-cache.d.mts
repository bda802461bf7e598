// The types of the plain JavaScript beside this file, for build.ts.
export const compileCacheFolder: string;
export function keepCompiled(): void;

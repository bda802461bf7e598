// What build.ts takes from the plain JavaScript beside this file.
export const compileCacheFolder: string;
export function keepCompiled(): void;

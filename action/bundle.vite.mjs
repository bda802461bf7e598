// How the action is built: one file, because GitHub installs nothing before it runs it. Not minified, so that people can
// read what they let into their jobs.
export default {
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: "src/main.ts",
    target: "node24",
    minify: false,
    rollupOptions: { output: { entryFileNames: "index.mjs" } },
  },
};

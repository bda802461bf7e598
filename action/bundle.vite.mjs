// How the action is built: with everything it needs inside, because GitHub installs nothing before it runs it. Not minified,
// so that people can read what they let into their jobs.
export default {
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: "node24",
    minify: false,
    rollupOptions: {
      input: { index: "src/main.ts", post: "src/post.ts" },
      output: { entryFileNames: "[name].mjs", chunkFileNames: "common.mjs" },
    },
  },
};

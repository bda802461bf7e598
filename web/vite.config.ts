// How the pages are built: one entry and one bundle per page, file names that change with their content, and a
// manifest by which the service finds them. Addresses are relative, so that a page works under any path.

import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  publicDir: false,
  resolve: {
    // Written against React and shipped with Preact: docs/decisions/0016 has the figures.
    alias: {
      "react/jsx-runtime": "preact/jsx-runtime",
      "react-dom/client": "preact/compat/client",
      "react-dom": "preact/compat",
      react: "preact/compat",
    },
  },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    manifest: "manifest.json",
    target: "es2023",
    // The service's Content-Security-Policy lets no data: address through.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: {
        review: "src/review/main.tsx",
        inbox: "src/inbox/main.tsx",
        "local-time": "src/look/time/local-time.ts",
      },
    },
  },
});

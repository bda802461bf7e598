// How the documentation's script and style are built. Its pages are HTML already: the script adds the search and the
// buttons that copy.

import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  publicDir: false,
  build: {
    outDir: "dist/docs",
    // The script that renders the pages removes files that nothing names any more.
    emptyOutDir: false,
    manifest: "manifest.json",
    target: "es2023",
    // The service's Content-Security-Policy lets no data: address through.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: { docs: "src/docs/main.ts" } },
  },
});

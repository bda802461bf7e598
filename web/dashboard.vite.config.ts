// How the dashboard is built: beside the review page and into the same folder, so that the service serves all files
// alike, but by itself and with React as it is, so that neither page waits for the other's code.

import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  publicDir: false,
  build: {
    outDir: "dist",
    // The review page is built first and has emptied it.
    emptyOutDir: false,
    manifest: "dashboard-manifest.json",
    target: "es2023",
    // The service's Content-Security-Policy lets no data: address through.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: { boot: "src/dashboard/boot.ts" },
      // "use client" tells servers that render React which files are not theirs; here all run in the browser.
      onwarn: (warning, warn) => {
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
      },
    },
  },
});

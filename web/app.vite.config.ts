// How the inbox's service worker is built: one script that imports nothing, beside the icons of the app. The service gives
// both their addresses.

import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  publicDir: "src/inbox/app/icons",
  build: {
    outDir: "dist/app",
    emptyOutDir: true,
    target: "es2023",
    rollupOptions: {
      input: "src/inbox/app/service-worker.ts",
      output: { format: "iife", entryFileNames: "service-worker.js" },
    },
  },
});

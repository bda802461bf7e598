// How the node is built: a file each for node and credential, because n8n installs no dependencies for verified nodes.
// CommonJS, which n8n's loader requires, and not minified: n8n's reviewers read it.
import { readFileSync } from "node:fs";

const icon = "nodes/Countersign/countersign.svg";

export default {
  publicDir: false,
  ssr: { noExternal: true },
  plugins: [
    {
      name: "icon",
      generateBundle() {
        for (const folder of ["nodes/Countersign", "credentials"]) {
          const fileName = `${folder}/countersign.svg`;
          this.emitFile({ type: "asset", fileName, source: readFileSync(icon) });
        }
      },
    },
  ],
  build: {
    ssr: true,
    target: "node20",
    minify: false,
    rollupOptions: {
      external: ["n8n-workflow"],
      input: {
        "nodes/Countersign/Countersign.node": "nodes/Countersign/Countersign.node.ts",
        "credentials/CountersignApi.credentials": "credentials/CountersignApi.credentials.ts",
      },
      output: { format: "cjs", entryFileNames: "[name].js" },
    },
  },
};

// Bundles the compiled program of a build (first argument: its folder, else dist) and its libraries into a few files in
// `program`: a start then reads a tenth of the files. docs/contributing/decisions.md says what stays outside, and why.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const dist = process.argv[2] ?? join(ROOT, "dist");

/** Machine code, what finds its own files or is known by its path, and what an idle gateway never loads. */
const OUTSIDE = [
  "@aws-sdk/client-s3",
  "@node-rs/argon2",
  "@opentelemetry/api",
  "libsignal",
  "pg-native",
  "pino",
  "sharp",
];

await build({
  root: ROOT,
  configFile: false,
  logLevel: "warn",
  ssr: { noExternal: true, external: OUTSIDE },
  build: {
    ssr: join(dist, "src/main.js"),
    outDir: join(dist, "program"),
    emptyOutDir: true,
    minify: false,
    target: "node20",
    license: { fileName: "licenses.md" },
    rolldownOptions: {
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name]-[hash].js",
        comments: { legal: true, annotation: false, jsdoc: false },
        // A file of its own: a gateway without sessions does not load it, and its name is in the stacks of its errors.
        codeSplitting: {
          groups: [{ name: "bundled-baileys", test: /[\\/]node_modules[\\/]baileys[\\/]/ }],
          includeDependenciesRecursively: false,
        },
      },
    },
  },
});

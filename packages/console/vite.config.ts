import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The gateway that `npm run dev` talks to. */
const gateway = process.env.TOOLPOST_GATEWAY ?? 'http://127.0.0.1:4040'

/** Parts of the form package that no form here uses. */
const leftOut = fileURLToPath(new URL('./src/form/left-out.ts', import.meta.url))
const LEFT_OUT = [
  '@radix-ui/react-dialog',
  'fast-uri',
  'markdown-to-jsx/react',
  './LayoutGridField.js',
  './LayoutHeaderField.js',
  './LayoutMultiSchemaField.js',
  './FileWidget.js',
  './RatingWidget.js',
  './AltDateWidget.js',
  './AltDateTimeWidget.js',
]

// biome-ignore lint/style/noDefaultExport: Vite reads it
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [react(), tailwind()],
  resolve: { alias: Object.fromEntries(LEFT_OUT.map(name => [name, leftOut])) },
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    emptyOutDir: true,
  },
  server: {
    // The gateway accepts only its own Origin.
    proxy: Object.fromEntries(
      ['/api', '/metrics', '/healthz'].map(path => [
        path,
        { target: gateway, changeOrigin: true, headers: { origin: gateway } },
      ]),
    ),
  },
})

import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The gateway that `npm run dev` talks to. */
const gateway = process.env.TOOLPOST_GATEWAY ?? 'http://127.0.0.1:4040'

const noLayout = fileURLToPath(new URL('./src/schema/no-layout.ts', import.meta.url))

// biome-ignore lint/style/noDefaultExport: Vite reads it
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [react()],
  resolve: {
    alias: {
      // Form descriptions come from tools and are shown as text, so its Markdown library stays out of the page.
      'markdown-to-jsx/react': fileURLToPath(new URL('./src/schema/no-markdown.ts', import.meta.url)),
      'fast-uri': fileURLToPath(new URL('./src/schema/no-uri.ts', import.meta.url)),
      './LayoutGridField.js': noLayout,
      './LayoutHeaderField.js': noLayout,
      './LayoutMultiSchemaField.js': noLayout,
      './FileWidget.js': noLayout,
      './RatingWidget.js': noLayout,
      './AltDateWidget.js': noLayout,
      './AltDateTimeWidget.js': noLayout,
    },
  },
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

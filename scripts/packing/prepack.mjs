// Adds published files that are not in git to a package: npm runs it before packing, and so does `npm run pack`.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readJson, root } from './packages.mjs'
import { copyVoiceFiles } from './voice-files.mjs'

const extras = {
  toolpost(folder) {
    rmSync(join(folder, 'console'), { recursive: true, force: true })
    cpSync(join(root, 'packages', 'console', 'dist'), join(folder, 'console'), { recursive: true })
  },
  'voice-gateway': copyVoiceFiles,
}

export function prepack(folder) {
  const { name } = readJson(join(folder, 'package.json'))
  extras[name]?.(folder)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) prepack(process.cwd())

// Types of optional packages. If they are not installed, a declaration file that imports their types would not compile
// (`skipLibCheck: false`); a suppressed import makes those types `any`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MARK = '// @ts-ignore: an optional package\n'

/** Marks the imports of optional peers in a folder's declaration files. May run twice. */
export function markOptionalTypes(folder, manifest) {
  const optional = Object.keys(manifest.peerDependenciesMeta ?? {})
  if (optional.length === 0) return
  const quoted = new RegExp(`['"](${optional.join('|')})['"/]`)
  for (const file of readdirSync(folder, { recursive: true }).filter(name => name.endsWith('.d.ts'))) {
    const path = join(folder, file)
    const before = readFileSync(path, 'utf8')
    const after = before
      .split('\n')
      .map(line => (quoted.test(line) ? MARK + line : line))
      .join('\n')
    if (after !== before) writeFileSync(path, after)
  }
}

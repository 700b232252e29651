// Imports every subpath: with types, in a project that checks its libraries too, and in Node.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readJson, root } from '../packages.mjs'
import { shell } from './project.mjs'

/** `toolpost`, `toolpost/mcp`, … of the packages installed in a project. */
function subpaths(folder, names) {
  return names.flatMap(name => {
    const { exports } = readJson(join(folder, 'node_modules', name, 'package.json'))
    return Object.entries(exports)
      .filter(([, target]) => typeof target === 'object')
      .map(([path]) => join(name, path).replaceAll('\\', '/'))
  })
}

export async function checkTypes(folder, names) {
  const paths = subpaths(folder, names)
  const lines = paths.map(
    (path, at) => `import * as m${at} from '${path}'\nexport const n${at}: object = m${at}`,
  )
  writeFileSync(join(folder, 'every-subpath.ts'), lines.join('\n'))
  const typed = readFileSync(join(root, 'tests/strict-project/typed-calls.ts'), 'utf8')
  const files = ['every-subpath.ts']
  if (!/from '(?!toolpost)/.test(typed)) {
    writeFileSync(join(folder, 'typed-calls.ts'), typed)
    files.push('typed-calls.ts')
  }
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
  const compilerOptions = {
    ...{ target: 'ES2022', module: 'NodeNext', noEmit: true, skipLibCheck: false, ...strict },
    ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const problems = await shell(`node ${join(root, 'node_modules/typescript/bin/tsc')} -p .`, folder)
  if (problems) throw new Error(problems)
  const imported = await shell(
    `node -e "Promise.all(${JSON.stringify(paths).replaceAll('"', "'")}.map(p => import(p))).then(() => console.log('fine'))"`,
    folder,
  )
  if (imported !== 'fine') throw new Error(imported)
  return `${paths.length} subpaths`
}

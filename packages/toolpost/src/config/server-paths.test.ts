import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { withFilesFrom } from './server-paths.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolpost-paths-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
for (const name of ['data', 'own', 'bin']) mkdirSync(join(folder, name))
for (const name of ['server.mjs', 'settings.json', 'run', 'own/local.mjs', 'bin/tool'])
  writeFileSync(join(folder, name), '')

describe('files of a server', () => {
  it('are meant from the folder of the configuration', () => {
    const args = ['server.mjs', './data', '--config=./settings.json', '-x', 'run', 'data', 'no-such.js', '.']
    expect(withFilesFrom({ command: 'node', args }, folder)).toEqual({
      command: 'node',
      args: [
        join(folder, 'server.mjs'),
        join(folder, 'data'),
        `--config=${join(folder, 'settings.json')}`,
        '-x',
        'run',
        'data',
        'no-such.js',
        folder,
      ],
    })
    expect(withFilesFrom({ command: './bin/tool' }, folder).command).toBe(join(folder, 'bin', 'tool'))
    expect(withFilesFrom({ command: 'bin' }, folder).command).toBe('bin')
  })

  it('in the server’s own folder are left to it', () => {
    const cwd = join(folder, 'own')
    expect(withFilesFrom({ command: 'node', args: ['local.mjs', 'server.mjs'], cwd }, folder).args).toEqual([
      'local.mjs',
      join(folder, 'server.mjs'),
    ])
  })
})

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'

/** An entry for `mcpServers`: its tool `label` says which it is, `wait` answers once the file `gate` exists. */
export function gatedServer(label: string, gate = '/nowhere', ...tools: string[]) {
  const args = [fileURLToPath(new URL('./gated-server.mjs', import.meta.url)), label, gate, ...tools]
  return { command: process.execPath, args }
}

/** A gated server that does not answer before the file `gate` exists. */
export function lateServer(label: string, gate: string, ...tools: string[]) {
  return { ...gatedServer(label, gate, ...tools), env: { START_GATE: gate } }
}

/** A gate, which goes away with the test. */
export function closedGate() {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-gate-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'gate')
  return {
    path,
    open: () => writeFileSync(path, ''),
    /** Resolves when the server of that label has a call that waits. */
    reached: (label: string) =>
      expect.poll(() => existsSync(`${path}.${label}`), { interval: 10, timeout: 15_000 }).toBe(true),
  }
}

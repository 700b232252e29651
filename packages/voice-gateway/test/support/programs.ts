import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'voice-gateway-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A folder of programs, each a shell script; as the PATH it hides everything else, so scripts name programs in full. */
export function programs(scripts: Record<string, string>): {
  folder: string
  environment: NodeJS.ProcessEnv
} {
  const folder = temporaryFolder()
  for (const [name, script] of Object.entries(scripts)) {
    const path = join(folder, name)
    writeFileSync(path, `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`)
    chmodSync(path, 0o755)
  }
  return { folder, environment: { PATH: folder } }
}

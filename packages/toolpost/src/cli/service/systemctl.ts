import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Whether systemd runs this machine. */
export function hasSystemd(): boolean {
  return existsSync('/run/systemd/system')
}

/** Runs systemctl for the user or the system; its output goes to the terminal. Resolves to its exit code. */
export function systemctl(words: readonly string[], isSystem: boolean): Promise<number> {
  const child = spawn('systemctl', [...(isSystem ? [] : ['--user']), ...words], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve(code ?? 1))
  })
}

/** Tells systemd the state of the service, if it asked for that when starting this process. Never fails. */
export function notifySystemd(...states: string[]): void {
  if (!process.env.NOTIFY_SOCKET) return
  spawn('systemd-notify', [`--pid=${process.pid}`, ...states], { stdio: 'ignore' }).on('error', () => {})
}

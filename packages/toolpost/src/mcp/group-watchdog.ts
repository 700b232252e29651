import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'

/** Stands in the environment of every server, and so of whatever it starts: also of what leaves its group. */
export const MARK_VARIABLE = 'TOOLPOST_SERVER_ID'

const programMark = randomUUID()
let servers = 0

/** The mark of one server. */
export function newMark(): string {
  return `${programMark}.${++servers}`
}

/*
 * Reads `+ <group>` and `- <group>`. Its stdin ends when this program does, however that happens: then it gives the
 * servers a second to notice by themselves and kills the groups that are left. On Linux also everything with the mark,
 * wherever it went. A shell, because it takes 2 MB and sleeps until then.
 */
const SCRIPT = `
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
[ -n "\${groups# }" ] || exit 0
sleep 1
for group in $groups; do kill -KILL -- "-$group"; done
for round in 1 2 3; do
  for file in $(grep -ls -- "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
done
`

let input: Writable | undefined

/** Tells the watchdog of a group that must not outlive this program, or that is gone. Starts it if need be. */
export function tellWatchdog(change: '+' | '-', group: number): void {
  if (process.platform === 'win32') return
  input ??= startWatchdog()
  input?.write(`${change} ${group}\n`)
}

function startWatchdog(): Writable | undefined {
  try {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'toolpost-watchdog', `${MARK_VARIABLE}=${programMark}.`], {
      // Signals that a terminal sends to this program's group must not reach it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
    })
    child.on('error', () => {})
    child.stdin.on('error', () => {})
    child.unref()
    const stdin = child.stdin as Writable & { unref?(): void }
    stdin.unref?.()
    return stdin
  } catch {
    // No process can be started: nothing can be watched, and nothing is left behind by it.
    return undefined
  }
}

import { access, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { volume as volumeTool } from './volume.ts'

type Args = Parameters<ReturnType<typeof volumeTool>>[0]

/**
 * Programs that behave like the real mixers, with shell builtins only, because the PATH has nothing else.
 * The state is "<level> <0 or 1 for muted>". Like the real ones they speak English only where LC_ALL says so.
 */
const prologue = `#!/bin/sh
state="\${0%/*}/state"
read -r level muted < "$state"
[ "$LC_ALL" = C ] || { echo 'Lautstärke: 0,45'; exit 0; }
save() { echo "$1 $2" > "$state"; }
`
const standIns = {
  wpctl: `${prologue}
[ "$2" = @DEFAULT_AUDIO_SINK@ ] || { echo "'$2' is not a valid ID" >&2; exit 3; }
case "$1" in
  get-volume)
    [ "$muted" = 1 ] && tail=' [MUTED]'
    printf 'Volume: %d.%02d%s\\n' $((level / 100)) $((level % 100)) "$tail" ;;
  set-volume) save "\${3%\\%}" "$muted" ;;
  set-mute) save "$level" "$3" ;;
  *) exit 1 ;;
esac`,
  pactl: `${prologue}
[ "$2" = @DEFAULT_SINK@ ] || { echo 'Failure: No such entity' >&2; exit 1; }
case "$1" in
  get-sink-volume)
    echo "Volume: front-left: 29491 /  $level% / -20.81 dB,   front-right: 29491 /  $level% / -20.81 dB"
    echo '        balance 0.00' ;;
  get-sink-mute) [ "$muted" = 1 ] && echo 'Mute: yes' || echo 'Mute: no' ;;
  set-sink-volume) save "\${3%\\%}" "$muted" ;;
  set-sink-mute) save "$level" "$3" ;;
  *) exit 1 ;;
esac`,
}
type Program = keyof typeof standIns

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolpost-volume-'))
  await writeFile(join(folder, 'state'), '45 0\n')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function install(program: Program, script = standIns[program]): Promise<void> {
  await writeFile(join(folder, program), script)
  await chmod(join(folder, program), 0o755)
}

type Options = NonNullable<Parameters<typeof volumeTool>[0]> & { signal?: AbortSignal }
const volume = (args: Args, { signal, ...options }: Options = {}) =>
  volumeTool({ path: folder, platform: 'darwin', ...options })(args, signal && { signal })

describe('volume', () => {
  it.each(['wpctl', 'pactl'] as const)('is told, set and read back through %s', async program => {
    await install(program)
    const expected = { level: 45, muted: false, mixer: program, text: 'The volume is 45 percent.' }
    expect(await volume({ action: 'get' })).toEqual(expected)
    expect(await volume({ action: 'set', level: 80 })).toMatchObject({ level: 80, muted: false })
    expect(await volume({ action: 'mute' })).toMatchObject({ level: 80, muted: true })
    await expect(volume({ action: 'set' })).rejects.toThrow("The action 'set' needs a level from 0 to 100")
  })

  it('goes on to the next mixer where one is there but fails', async () => {
    await install('wpctl', "#!/bin/sh\necho 'Could not connect to PipeWire' >&2\nexit 1")
    await install('pactl')
    expect(await volume({ action: 'set', level: 30 })).toMatchObject({ level: 30, mixer: 'pactl' })
  })

  it('says what it looked for where there is no mixer', async () => {
    await mkdir(join(folder, 'wpctl'))
    await writeFile(join(folder, 'pactl'), 'not executable')
    await expect(
      volume({ action: 'get' }, { path: `:${folder}:/nowhere`, platform: 'linux' }),
    ).rejects.toThrow('This machine has no usable mixer: looked for wpctl, pactl, amixer on the PATH.')
  })

  it('ends the mixer when the call is given up, and tries no other', async () => {
    const controller = new AbortController()
    const hangs = `#!/bin/sh\ntrap '' TERM\necho $$ > "\${0%/*}/pid"\n: > "\${0%/*}/started"\nkill -STOP $$`
    await install('wpctl', hangs)
    await install('pactl')
    const outcome = volume({ action: 'set', level: 1 }, { signal: controller.signal })
    await vi.waitFor(() => access(join(folder, 'started')), 10_000)
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
    controller.abort()
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' })
    expect(await readFile(join(folder, 'state'), 'utf8')).toBe('45 0\n')
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5_000)
  })
})

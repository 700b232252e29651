/** The volume in percent (a mixer may go beyond 100), and whether it is muted. */
export interface VolumeState {
  level: number
  muted: boolean
}

/** Runs a mixer's program with these arguments and returns its output. */
export type RunMixer = (args: readonly string[]) => Promise<string>

/** A program that controls the volume of the default output. */
export interface Mixer {
  readonly program: string
  /** The only platform it exists on; any if left out. */
  readonly platform?: NodeJS.Platform
  read(run: RunMixer): Promise<VolumeState>
  setLevel(run: RunMixer, percent: number): Promise<unknown>
  setMuted(run: RunMixer, muted: boolean): Promise<unknown>
}

const WPCTL_SINK = '@DEFAULT_AUDIO_SINK@'
const PACTL_SINK = '@DEFAULT_SINK@'

const wpctl: Mixer = {
  program: 'wpctl',
  // Volume: 0.45 [MUTED]
  read: async run => {
    const output = await run(['get-volume', WPCTL_SINK])
    const level = Number(capture(/Volume:\s*([\d.]+)/, output)) * 100
    return { level: Math.round(level), muted: output.includes('[MUTED]') }
  },
  setLevel: (run, percent) => run(['set-volume', WPCTL_SINK, `${percent}%`]),
  setMuted: (run, muted) => run(['set-mute', WPCTL_SINK, muted ? '1' : '0']),
}

const pactl: Mixer = {
  program: 'pactl',
  // Volume: front-left: 29491 /  45% / -20.81 dB,   front-right: … and Mute: no
  read: async run => ({
    level: loudestChannel(/(\d{1,4})%/g, await run(['get-sink-volume', PACTL_SINK])),
    muted: capture(/Mute:\s*(yes|no)/, await run(['get-sink-mute', PACTL_SINK])) === 'yes',
  }),
  setLevel: (run, percent) => run(['set-sink-volume', PACTL_SINK, `${percent}%`]),
  setMuted: (run, muted) => run(['set-sink-mute', PACTL_SINK, muted ? '1' : '0']),
}

const amixer: Mixer = {
  program: 'amixer',
  // Front Left: Playback 29491 [45%] [-20.81dB] [on]
  read: async run => {
    const output = await run(['get', 'Master'])
    return {
      level: loudestChannel(/\[(\d{1,4})%\]/g, output),
      muted: output.includes('[off]') && !output.includes('[on]'),
    }
  },
  setLevel: (run, percent) => run(['set', 'Master', `${percent}%`]),
  setMuted: (run, muted) => run(['set', 'Master', muted ? 'mute' : 'unmute']),
}

const osascript: Mixer = {
  program: 'osascript',
  platform: 'darwin',
  // output volume:45, input volume:50, alert volume:100, output muted:false
  read: async run => {
    const output = await run(['-e', 'get volume settings'])
    return {
      level: Number(capture(/output volume:(\d+)/, output)),
      muted: capture(/output muted:(true|false)/, output) === 'true',
    }
  },
  setLevel: (run, percent) => run(['-e', `set volume output volume ${percent}`]),
  setMuted: (run, muted) => run(['-e', `set volume output muted ${muted}`]),
}

/** In the order they are tried: closest to the sound server first. */
export const mixers: readonly Mixer[] = [wpctl, pactl, amixer, osascript]

/** Channels may differ; desktops show the loudest one as the volume. */
function loudestChannel(pattern: RegExp, output: string): number {
  const levels = [...output.matchAll(pattern)].map(match => Number(match[1]))
  if (levels.length === 0) throw unreadable(output)
  return Math.max(...levels)
}

function capture(pattern: RegExp, output: string): string {
  const found = pattern.exec(output)?.[1]
  if (found === undefined) throw unreadable(output)
  return found
}

function unreadable(output: string): Error {
  const shown = output.trim().replace(/\s+/g, ' ').slice(0, 100)
  return new Error(shown ? `it printed '${shown}', which contains no volume` : 'it printed nothing')
}

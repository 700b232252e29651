import { ZWAVE_COMMANDS } from './zwave-commands.ts'
import { ZWAVE_QUESTIONS } from './zwave-questions.ts'
import type { SentencesByMeaning } from './zwave-rules.ts'
import { ZWAVE_TYPED } from './zwave-typed.ts'

/*
 * What people say to a Z-Wave home. The grammar is described in models/offline/template.ts.
 *
 * Lists of devices by what they can do: `devices` (all), `switchable`, `dimmable`, `levelled` (dimmers and blinds),
 * `covers`, `locks`, `thermostats`, `sensors`; and `scenes`, `rooms`. Until the home's contents are known, a name is any
 * few words.
 */

/** Usable even before the devices are known. */
export const ZWAVE_SENTENCES: Readonly<Record<string, readonly string[]>> = {
  control_zwave_device: [
    '(turn|switch|power|flip|shut|put) [back] {action:on|off} [<the>] {deviceName@switchable}',
    '(turn|switch|power|flip|shut|put|have|get) [<the>] {deviceName@switchable} [back] {action:on|off}',
    '(dim|lower|brighten|raise|reduce|increase|decrease|turn (up|down)) [<the>] {deviceName@levelled} to {level} {action=dim}',
    '(set|turn|put|bring|change|adjust) [<the>] [brightness of] [<the>] {deviceName@levelled} [brightness] (to|at) {level} {action=dim}',
    '{action:dim} [<the>] {deviceName@levelled} {level}',
    '{action:dim} [<the>] {deviceName@dimmable}',
    'open [<the>] {deviceName@covers} {action=on}',
    '(close|shut) [<the>] {deviceName@covers} {action=off}',
    '(open|move|close) [<the>] {deviceName@covers} to {level} {action=dim}',
    '(activate|enable) [<the>] {deviceName@switchable} {action=on}',
    '(deactivate|disable) [<the>] {deviceName@switchable} {action=off}',
    '[<the>] {deviceName@switchable} {action:on|off}',
    '[<the>] {deviceName@levelled} (to|at) {level} {action=dim}',
  ],
  set_thermostat: [
    '(set|turn|put|change|raise|lower|increase|decrease|reduce|drop) [<the>] (thermostat|heating) to {temperature} [<degrees>] {deviceName=thermostat}',
    '(set|turn|put|change|raise|lower) [<the>] {deviceName@thermostats} thermostat to {temperature}',
    '(set|turn|put|change|raise|lower) [<the>] {deviceName@thermostats} to {temperature} <degrees>',
    '(set|switch|turn|put|change) [<the>] {deviceName@thermostats} to {mode:heat|cool|auto|away|dry} [mode]',
  ],
  // Locking only: nobody may get in by shouting through the window.
  control_lock: ['lock [up] [<the>] {deviceName@locks} {action=lock}'],
  activate_scene: [
    '(activate|start|run|set) [the|my] {sceneName@scenes} scene',
    '(activate|start|run|set) [the|my] scene {sceneName@scenes}',
    '(activate|start|run) [the|my] {sceneName@scenes}',
  ],
  get_device_sensor_data: [
    'read [<the>] {deviceName@devices}',
    'is [<the>] {deviceName@devices} (on|off|open|closed|dimmed|locked|unlocked)',
    '(what [temperature|mode]|which (temperature|mode)) is [<the>] {deviceName@devices} (set to|in|on)',
    'what is [the] [current] (state|status|reading|value) of [<the>] {deviceName@devices}',
    'what does [<the>] {deviceName@devices} (say|show|read|report|measure)',
    'what is [the] (temperature|humidity|brightness|level|power) (of|at|on) [<the>] {deviceName@devices}',
    'how (warm|hot|cold|humid|bright) is [<the>] {deviceName@devices}',
    '(get|show|tell|give) [me] [the] (state|status|reading|readings|value|values|data) (of|from) [<the>] {deviceName@devices}',
    'check [<the>] {deviceName@devices}',
  ],
  list_zwave_devices: [
    '(list|show) [me] [all] [<the>] [z-wave|zwave|smart] devices',
    '(what|which) [z-wave|zwave|smart] devices (are there|do i have|do you (know|see|have)|can you (control|see))',
    '(what|which) devices are [there] in [<the>] {filter}',
    '(what|which) {filter} are (on|off|open|closed)',
    '(list|show) [me] [all] [<the>] {filter} devices',
    '(what|which) (can you|can i) control',
    '(list|show) [me] (all|every) [<the>] devices (including|with|even) [the] (dead|inactive) [ones] {includeInactive=true}',
  ],
  check_zwave_health: [
    '(is|are) [<the>] (z-wave|zwave) [network|home|system|devices] (ok|okay|healthy|working|fine|up|connected|alive)',
    'check [<the>] (z-wave|zwave) [network|health|home|system] [health]',
    '(how is|what is [the] (state|status|health) of) [<the>] (z-wave|zwave) [network|home|system]',
    '(z-wave|zwave) (health|status)',
    'is [<the>] (home|network|house) (ok|okay|healthy|working|connected)',
  ],
}

/** Usable only once the devices are known. For the meaning of `step`, `check` and the others, see models/offline/home/. */
export const ZWAVE_HOME_SENTENCES: ByTool = merged([ZWAVE_COMMANDS, ZWAVE_QUESTIONS, ZWAVE_TYPED])

type ByTool = Readonly<Record<string, SentencesByMeaning>>

function merged(tables: readonly ByTool[]): ByTool {
  const all: Record<string, Record<string, readonly string[]>> = {}
  for (const table of tables)
    for (const [tool, byMeaning] of Object.entries(table)) {
      const known = all[tool] ?? {}
      all[tool] = known
      for (const [means, list] of Object.entries(byMeaning)) known[means] = [...(known[means] ?? []), ...list]
    }
  return all
}

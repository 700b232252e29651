/*
 * What people say to a Z-Wave home. The grammar is described in models/offline/template.ts.
 *
 * Lists of devices by what they can do: `devices` (all), `switchable`, `dimmable`, `levelled` (dimmers and blinds),
 * `covers`, `locks`, `thermostats`, `sensors`; and `scenes`, `rooms`. As long as nobody knows what is in the home, a name is any few words.
 */

/**
 * Sentences of a tool, by what they mean: `call` calls it with what they say. With `typed` behind it, they are too short or
 * too like others to be told from them by ear.
 */
export type SentencesByMeaning = Readonly<Record<string, readonly string[]>>

/** Also before it is known which devices there are. */
export const ZWAVE_SENTENCES: Readonly<Record<string, readonly string[]>> = {
  control_zwave_device: [
    '(turn|switch|power|flip|shut|put) [back] {action:on|off} [<the>] {deviceName@switchable}',
    '(turn|switch|power|flip|shut|put|have|get) [<the>] {deviceName@switchable} [back] {action:on|off}',
    '(dim|lower|brighten|raise|turn (up|down)) [<the>] {deviceName@levelled} to {level} {action=dim}',
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
    '(set|turn|put|change|raise|lower) [<the>] (thermostat|heating) to {temperature} [<degrees>] {deviceName=thermostat}',
    '(set|turn|put|change|raise|lower) [<the>] {deviceName@thermostats} thermostat to {temperature}',
    '(set|turn|put|change|raise|lower) [<the>] {deviceName@thermostats} to {temperature} <degrees>',
    '(set|switch|turn|put|change) [<the>] {deviceName@thermostats} to {mode:heat|cool|auto|away|dry} [mode]',
  ],
  // Locking alone: whoever shouts through the window must not be let in.
  control_lock: ['lock [up] [<the>] {deviceName@locks} {action=lock}'],
  activate_scene: [
    '(activate|start|run|set) [the|my] {sceneName@scenes} scene',
    '(activate|start|run|set) [the|my] scene {sceneName@scenes}',
    '(activate|start|run) [the|my] {sceneName@scenes}',
  ],
  get_device_sensor_data: [
    'read [<the>] {deviceName@devices}',
    'is [<the>] {deviceName@devices} (on|off|open|closed|dimmed|locked|unlocked)',
    '(what|which) [temperature|mode] is [<the>] {deviceName@devices} (set to|in|on)',
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

/** Only if it is known which devices there are. What `step`, `check` and the others mean stands in models/offline/home/. */
export const ZWAVE_HOME_SENTENCES: Readonly<Record<string, SentencesByMeaning>> = {
  control_zwave_device: {
    call: [
      '(turn|switch|power|flip|put) {action:on|off} [<the>] {deviceName@switchable} (in|at) [<the>] {room@rooms}',
      '(turn|switch|power|flip|put) [<the>] {deviceName@switchable} [back] {action:on|off} (in|at) [<the>] {room@rooms}',
      '[<the>] {deviceName@switchable} {action:on|off} (in|at) [<the>] {room@rooms}',
      '(start|run) [<the>] {deviceName@switchable} {action=on}',
      'stop [<the>] {deviceName@switchable} {action=off}',
      'light [up] [<the>] {deviceName@switchable} {action=on}',
      'i (want|need|would like) [to have] [<the>] {deviceName@switchable} [turned|switched] {action:on|off}',
      'make [<the>] {deviceName@levelled} {level#percent} {action=dim}',
      '<adjust> [<the>] {deviceName@levelled} [down|up] (to|at) {level} [brightness] [in [<the>] {room@rooms}] {action=dim}',
      '<adjust> [up|down] [<the>] {deviceName@levelled} (to|at) {level} [brightness] {action=dim}',
      '<adjust> [<the>] {deviceName@levelled} {level#percent} {action=dim}',
      '(set|turn|change) [the] (brightness|level) (of|for|in|on) [<the>] {deviceName@levelled} (to|at) {level} {action=dim}',
      'set [<the>] {deviceName@switchable} to {action:on|off}',
      '[(turn|switch)] [<the>] {deviceName@switchable} {action:on|off} <except> [<the>] {except@switchable}',
      '[<the>] {deviceName@levelled} {level#percent} {action=dim}',
      '{action:open=on|close=off|shut=off|raise=on|lower=off|draw=off} [up|down] [<the>] {deviceName@covers} [all the way|completely|fully]',
      '(pull|roll|put|let|bring|wind) {action:up=on|down=off} [<the>] {deviceName@covers}',
      '(pull|roll|put|let|bring|wind) [<the>] {deviceName@covers} {action:up=on|down=off|open=on|closed=off|shut=off}',
      '[<the>] {deviceName@covers} {action:up=on|down=off|open=on|closed=off|shut=off} [in [<the>] {room@rooms}]',
      '(open|close|set|move|put) [<the>] {deviceName@covers} (halfway|half way|half) [open|closed|up|down] {action=dim} {level=50}',
      '(open|close) [<the>] {deviceName@covers} {level#percent} {action=dim}',
    ],
    'call typed': [
      '(hit|pop on|throw on) [<the>] {deviceName@switchable} {action=on}',
      '(shut|power) [<the>] {deviceName@switchable} down {action=off}',
      '(shut|power) down [<the>] {deviceName@switchable} {action=off}',
      '(<i_want>) [some|a] light in [<the>] {deviceName@switchable} {action=on}',
      '(kill|cut|lose) [<the>] {deviceName@switchable} {action=off}',
      '(let us have|give me) [<the>] {deviceName@switchable} {action:on|off}',
      'make sure [that] [<the>] {deviceName@switchable} (is|are) {action:on|off}',
      '[<the>] {deviceName@levelled} (to|at) {level} in [<the>] {room@rooms} {action=dim}',
      '(<i_want>) [<the>] {deviceName@levelled} (to|at) {level} {action=dim}',
      '(<i_want>) {level#percent} (on|in|for) [<the>] {deviceName@levelled} {action=dim}',
      '[<adjust>] [<the>] {deviceName@levelled} [to|at] full [brightness|power] {action=dim} {level=100}',
      '(turn|bring|put|crank) [<the>] {deviceName@levelled} all the way up {action=dim} {level=100}',
      'max out [<the>] {deviceName@levelled} {action=dim} {level=100}',
      'half (open|close) [<the>] {deviceName@covers} {action=dim} {level=50}',
    ],
    step: [
      'make [<the>] {deviceName@dimmable} [<bit>] {direction:brighter=up|lighter=up|darker=down|dimmer=down|lower=down|higher=up|softer=down}',
      'make [<the>] {deviceName@dimmable} [<bit>] (less|not so|not as) bright {direction=down}',
      '(brighten|light) [up] [<the>] {deviceName@dimmable} [up] [<by>] {direction=up}',
      '(dim|darken) [down] [<the>] {deviceName@dimmable} [down] [<by>] {direction=down}',
      '<nudge> {direction:up|down} [the] [brightness (of|in|on)] [<the>] {deviceName@dimmable} [brightness] [<by>]',
      '<nudge> [<the>] {deviceName@dimmable} [brightness] {direction:up|down} [<by>]',
      '{direction:lower=down|decrease=down|reduce=down|raise=up|increase=up} [the] [brightness (of|in|on)] [<the>] {deviceName@dimmable} [brightness] [<by>]',
      'open [<the>] {deviceName@covers} <bit> [more|further] {direction=up}',
      '(close|lower) [<the>] {deviceName@covers} <bit> [more|further] {direction=down}',
      'raise [<the>] {deviceName@covers} <bit> [more|further] {direction=up}',
    ],
    'step typed': [
      '[<the>] {deviceName@dimmable} [<bit>] {direction:brighter=up|darker=down|dimmer=down|up|down}',
      '[make it|i want it|i need it] [<bit>] {direction:brighter=up|darker=down|dimmer=down} ([in here|here] {deviceName@the_light}|in [<the>] {deviceName@dimmable})',
      '[i (want|need)] {direction:more=up|less=down} light ([in here|here] {deviceName@the_light}|in [<the>] {deviceName@dimmable})',
      'it is [far|much|a bit|a little] (too|so|very|really|pretty) {direction:dark=up|bright=down} ([in here|here] {deviceName@the_light}|in [<the>] {deviceName@dimmable})',
    ],
  },
  set_thermostat: {
    call: [
      '(set|turn|put|change|raise|lower|adjust|bring) [<the>] {deviceName@thermostats} [temperature] [up|down] (to|at|on) {temperature} [<degrees>]',
      '(set|turn|put|change|raise|lower|adjust|bring|make) [the] (temperature|heat|temp) [in here|inside] [up|down] (to|at) {temperature} [<degrees>] {deviceName@the_thermostat}',
      '(set|turn|put|change|raise|lower|adjust|bring) [the] (temperature|heat|temp) (in|of|on) [<the>] {deviceName@thermostats} [up|down] (to|at) {temperature} [<degrees>]',
      '[<the>] {deviceName@thermostats} (to|at) {temperature} [<degrees>]',
      '(make|set) [<the>] {deviceName@thermostats} {temperature} [<degrees>]',
      '(make|set) it {temperature} <degrees> [in here|inside|in the house] {deviceName@the_thermostat}',
      '(heat|warm) [up] [<the>] {deviceName@thermostats} to {temperature} [<degrees>]',
      '(heat|warm) [up] the house to {temperature} [<degrees>] {deviceName@the_thermostat}',
      '[<the>] {deviceName@thermostats} {temperature} <degrees>',
      '(set|switch|turn|put|change) [<the>] {deviceName@thermostats} (to|on|into) {mode:off|heat|heating=heat|cool|cooling=cool|auto|automatic=auto|away|dry} [mode]',
      '(turn|switch|power|shut) {mode:off|on=heat} [<the>] {deviceName@thermostats}',
      '(turn|switch|power|shut) [<the>] {deviceName@thermostats} {mode:off|on=heat}',
      '[<the>] {deviceName@thermostats} {mode:off|on=heat}',
    ],
    step: [
      'make it [<bit>] {direction:warmer=up|hotter=up|cooler=down|colder=down|less warm=down} [in here|here|inside|in the house] {deviceName@the_thermostat}',
      '<nudge> {direction:up|down} [<the>] {deviceName@thermostats} [<by>] [<degrees>]',
      '<nudge> [<the>] {deviceName@thermostats} {direction:up|down} [<by>] [<degrees>]',
      '<nudge> {direction:up|down} the (heat|temperature) [<by>] [<degrees>] {deviceName@the_thermostat}',
      '<nudge> the (heat|temperature) {direction:up|down} [<by>] [<degrees>] {deviceName@the_thermostat}',
      '{direction:lower=down|decrease=down|reduce=down|raise=up|increase=up} [<the>] {deviceName@thermostats} [<by>] [<degrees>]',
      '{direction:lower=down|decrease=down|reduce=down|raise=up|increase=up} the (heat|temperature) [<by>] [<degrees>] {deviceName@the_thermostat}',
    ],
    'step typed': [
      '[<bit>] {direction:warmer=up|cooler=down|colder=down} [in here|here|inside] {deviceName@the_thermostat}',
      'it is [far|much|a bit|a little] too {direction:cold=up|chilly=up|warm=down|hot=down} [in here|here|inside|in the house] {deviceName@the_thermostat}',
    ],
  },
  activate_scene: {
    call: [
      '(activate|start|run|set|begin|launch|play|do|enable|turn on|switch on|put on) [the|my] {sceneName@scenes} [scene|mode]',
      '(activate|start|run|set|turn on) [the|my] scene {sceneName@scenes}',
      "(it is|time for|set the house to|switch to|let's do|do) {sceneName@scenes} [scene|mode] [time]",
    ],
    'call typed': ['[the] {sceneName@scenes} [scene|mode]'],
  },
  get_device_sensor_data: {
    check: [
      '(is|are) [<the>] {deviceName@devices} [still|already|currently|really|all] [turned|switched] {state@states}',
      '(is|are) [<the>] {deviceName@devices} [still] (running|active|lit) {state=on}',
      '(is|are) [<the>] {deviceName@devices} not {state@states}',
      'did (i|we|you|someone|somebody|anybody|anyone) (leave|forget) [<the>] {deviceName@devices} [turned|switched] {state@states}',
      '(have|has) (i|we|someone|somebody|anybody|anyone) left [<the>] {deviceName@devices} {state@states}',
      '(did|have) (i|we|you|someone|somebody|anybody|anyone) (turn|turned|switch|switched) {state:on|off} [<the>] {deviceName@devices}',
      '(did|have) (i|we|you|someone|somebody|anybody|anyone) (turn|turned|switch|switched) [<the>] {deviceName@devices} {state:on|off}',
      '(did|have) (i|we|you|someone|somebody|anybody|anyone) (forget to|remember to) (turn|switch) {state:off|on} [<the>] {deviceName@devices}',
      '(did|have) (i|we|you|someone|somebody|anybody|anyone) {state:lock=locked|locked|unlock=unlocked|unlocked|close=closed|closed|shut=closed|open|opened=open} [<the>] {deviceName@devices}',
      '(did|have) (i|we|you|someone|somebody|anybody|anyone) (forget to|remember to) {state:lock=locked|close=closed|shut=closed} [<the>] {deviceName@devices}',
      '(check|tell me|see|do you know) (if|whether) [<the>] {deviceName@devices} (is|are) [still] {state@states}',
    ],
    'read typed': [
      '[<the>] {deviceName@sensors}',
      '(what|how) is [<the>] {deviceName@devices} [doing|set to|at]',
      '[<the>] {deviceName@devices} (state|status|reading|value|level|brightness|position|temperature|battery|battery level)',
    ],
    read: [
      '(is|are) [<the>] {deviceName@devices} (on|open) or (off|closed)',
      'what (state|position|level|mode) is [<the>] {deviceName@devices} [in|at|on]',
      '(what|which) [temperature|mode|level] is [<the>] {deviceName@devices} [set] (to|in|on|at)',
      '(read|read out|check|check on|get|show [me]) [<the>] {deviceName@devices}',
      '(what|how) is [<the>] {deviceName@thermostats} set',
      'how (bright|open|dim|far open|high) (is|are) [<the>] {deviceName@devices}',
      'how much (power|energy|electricity) (is|does) [<the>] {deviceName@devices} (using|use|drawing|draw|consuming|consume)',
      '[what is] [the] (state|status|reading|value|level|brightness|position|power|power consumption|battery|battery level) (of|on|for|from) [<the>] {deviceName@devices}',
      'what is [<the>] {deviceName@devices} (state|status|reading|value|level|brightness|position|temperature|battery|battery level)',
    ],
    measure: [
      'how {what:warm=temperature|hot=temperature|cold=temperature|cool=temperature|humid=humidity|damp=humidity|dry=humidity} is it [in here|here|inside|indoors|in the house|at home]',
      'how {what:warm=temperature|hot=temperature|cold=temperature|cool=temperature|humid=humidity|damp=humidity|dry=humidity} is it (in|at|outside) [the|my|our] {room@rooms}',
      'how {what:warm=temperature|hot=temperature|cold=temperature|cool=temperature|humid=humidity|damp=humidity|dry=humidity} is [the|my|our] {room@rooms}',
      '[what is|tell me|give me|show me] [the] [current|indoor|inside|room] {what:temperature|temp=temperature|humidity|air humidity=humidity} [like] [in here|here|inside|indoors|in the house|at home]',
      '[what is|tell me|give me|show me] [the] [current] {what:temperature|temp=temperature|humidity} (in|of|at) [the|my|our] {room@rooms}',
      '[what is|tell me|give me|show me] [the|my|our] {room@rooms} {what:temperature|temp=temperature|humidity}',
      'what {what:temperature|humidity} is it [in here|here|inside|in the house]',
      'what {what:temperature|humidity} is it in [the|my|our] {room@rooms}',
      'how many degrees {what=temperature} (is it|are there|do we have) [in here|here|inside|in the house]',
      'is it {what:warm=temperature|hot=temperature|cold=temperature|humid=humidity} [in here|here|inside|in the house]',
      'is it {what:warm=temperature|hot=temperature|cold=temperature|humid=humidity} in [the|my|our] {room@rooms}',
      'is [the|my|our] {room@rooms} {what:warm=temperature|hot=temperature|cold=temperature|humid=humidity}',
      'how is the {what:temperature|humidity} [in [the|my|our] {room@rooms}]',
      'what does the thermometer say {what=temperature}',
    ],
  },
  list_zwave_devices: {
    which: [
      '(what|which) [of the] {deviceName@devices} (is|are) [still] [turned|switched] {state@states} [in [the|my|our] {room@rooms}]',
      '(what|which) {deviceName@devices} in [the|my|our] {room@rooms} (is|are) [still] {state@states}',
      '(what|which) {deviceName@devices} did (i|we) (leave|forget) {state@states}',
      '(is|are) [<the>] {deviceName@devices} [still] {state@states} in [the|my|our] {room@rooms}',
      'any {deviceName@devices} [still|left] {state@states} [in [the|my|our] {room@rooms}]',
      '(is|are) [there] (any|some|a|an) {deviceName@devices} [still|left] [turned|switched] {state@states} [in [the|my|our] {room@rooms}]',
      '(is|are) any of [<the>] {deviceName@devices} [still] {state@states}',
      'is (anything|something) [still] [left|turned|switched] {state@states} [in [the|my|our] {room@rooms}]',
      'did (i|we) (leave|forget) (anything|something) {state@states}',
      'what is [still] [left|turned|switched] {state:on|off|open|closed|unlocked|running=on} [in [the|my|our] {room@rooms}]',
      '(show|list|tell) [me] (everything|all|what) that is [still] {state@states}',
      '(is|are) (the house|everything) [locked up|all] {state@states}',
      'did (i|we) lock up {state=locked}',
      'how many {deviceName@devices} (is|are) [still] {state@states} [in [the|my|our] {room@rooms}]',
      '(show|list|tell) [me] [all] [the] {deviceName@devices} that are {state@states}',
    ],
    which_are: [
      '(what|which) {deviceName@devices} (are there|do i have|do we have|is there) [in [the|my|our] {room@rooms}]',
      '(show|list|tell|name) [me] [all] [<the>] {deviceName@devices} [that i have]',
      'how many {deviceName@devices} (are there|do i have|do we have)',
      'what [devices|things] (is|are) [there] in [the|my|our] {room@rooms}',
    ],
    rooms: [
      '(what|which) rooms (are there|do i have|do we have|do you know)',
      '(list|show) [me] [the|my|all] rooms',
    ],
  },
}

/** Rules that the sentences above refer to. */
export const HOME_RULES: Readonly<Record<string, string>> = {
  the: 'the|my|our|a|an|that',
  except: 'except [for]|but not|apart from|other than',
  adjust: 'set|turn|put|bring|dim|change|drop|bump|lower|raise|adjust|take|move|get|knock|brighten',
  nudge: 'turn|bump|crank|bring|take|push|knock',
  i_want:
    'i want|i need|i would like|give me|get me|can we get|can we have|can i get|can i have|could we have',
  bit: '<a_bit>|<a_lot>',
  a_bit: '(a [little] bit|a little|slightly|somewhat|a touch|a tad|a notch) [more] {size=small}',
  a_lot: '(a lot|much|way|a great deal) [more] {size=large}',
  by: '<bit>|by {amount#number}|by [a] half {amount=50}|{amount#number}',
  degrees: 'degrees|degree|degrees (celsius|centigrade|fahrenheit|c|f)|celsius|c',
}

/** The states that a device may be asked about, and how they are said. */
export const HOME_STATES: Readonly<Record<string, readonly string[]>> = {
  on: ['on'],
  off: ['off'],
  open: ['open', 'opened', 'up', 'raised'],
  closed: ['closed', 'shut', 'down', 'lowered'],
  locked: ['locked'],
  unlocked: ['unlocked'],
}

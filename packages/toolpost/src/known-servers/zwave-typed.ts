import type { SentencesByMeaning } from './zwave-rules.ts'

/*
 * What people type to a home, often as a follow-up: too short or too ambiguous to be recognised in speech. `just_named` and
 * similar lists are the devices mentioned last.
 */

export const ZWAVE_TYPED: Readonly<Record<string, SentencesByMeaning>> = {
  control_zwave_device: {
    'call typed': [
      '[turn|switch|put] [<the>] {deviceName@switchable} {action:on|off} {room@rooms}',
      '[back] to {level} {deviceName@just_named} {action=dim}',
      '[<the>] {deviceName@covers} (to|at) {level} open {action=dim}',
      'shut [<the>] {deviceName@covers} (halfway|half way|half) {action=dim} {level=50}',
      '(leave|keep) [<the>] {deviceName@covers} ({level#percent}|(half|halfway|half way) {level=50}) open {action=dim}',
      '[<the>] {deviceName@switchable} can (go|be turned|be switched) {action:off|on} now',
    ],
    'terse typed': ['{action:on|off} {deviceName@switchable}'],
    'wish typed': [
      '[<the>] {deviceName@switchable} <should_be> be [turned|switched] {action:on|off}',
      '[<the>] {deviceName@levelled} <should_be> be (at|on|set to|dimmed to) {level} {action=dim}',
    ],
    'toggle typed': ['(toggle|flip over) [<the>] {deviceName@switchable}'],
    'complaint typed': [
      'it is [far|much|way|a bit|a little] too (dark|dim|bright) (in|on|at) [the|my|our] {room@rooms}',
      '[the|my|our] {room@rooms} is [far|much|way|a bit|a little] too (dark|dim|bright)',
    ],
    'step typed': [
      '(open|raise|lift) [<the>] {deviceName@covers} <by_percent> {direction=up}',
      '(close|lower|drop) [<the>] {deviceName@covers} <by_percent> {direction=down}',
      '[<the>] {deviceName@covers} {amount#percent} more {direction:open=up|closed=down}',
      '<scaled> [the] (brightness|level) ((of|for|in|on) [<the>] {deviceName@dimmable}|{deviceName@just_named})',
      '<scaled> [<the>] {deviceName@levelled} [brightness]',
      '(<scaled>|half {factor=0.5}) [of] (that|it|them) {deviceName@just_named}',
      'make [<the>] {deviceName@levelled} <times_as> as (bright|open|high)',
      '[make it] <times_as> as (bright|open|high) {deviceName@just_named}',
      '[<so_much>] {direction:more=up|less=down|higher=up|lower=down|brighter=up|darker=down|dimmer=down|up|down} {deviceName@just_named}',
      '[make it] (even|still|yet) {direction:brighter=up|darker=down|dimmer=down|higher=up|lower=down} {deviceName@just_named}',
      '[<bit>] less {direction=down} {deviceName@just_named}',
      '(turn|move|bring|put) (it|them) [<bit>] {direction:up|down} [<by>] {deviceName@just_moved}',
    ],
  },
  set_thermostat: {
    'call typed': [
      '(heat|warm|cool) [up|down] to {temperature} [<degrees>] {deviceName@the_thermostat}',
      '<nudge> [up|down] [<the>] {deviceName@thermostats} [up|down] to {temperature} [<degrees>]',
      'set it to {temperature} <degrees> in [<the>] {deviceName@heated}',
    ],
    'step typed': [
      '[<the>] {deviceName@thermostats} {direction:up|down|plus=up|minus=down} [<by>] [<degrees>]',
      '<nudge> [<the>] {deviceName@thermostats} back [<by>] [<degrees>] {direction=down}',
      '{direction:warm=up|cool=down} [up|down] [<the>] {deviceName@heated} [up|down] [by] <some_degrees>',
      '(drop|cut) [<the>] {deviceName@thermostats} <by> [<degrees>] {direction=down}',
      'turn it {direction:up|down} [<by>] [<degrees>] {deviceName@just_felt}',
      '[<bit>] less {direction=down} {deviceName@just_heated}',
      '[make it] (even|still|yet) <warmth> {deviceName@just_heated}',
    ],
  },
  control_lock: {
    'call typed': ['(close|shut) [and] lock [<the>] {deviceName@locks} {action=lock}'],
  },
  get_device_sensor_data: {
    'read typed': [
      'what (did|have|had) (i|we|you) (set|put|turn|turned) [<the>] {deviceName@devices} (to|at|on)',
      '(is|are) [<the>] {deviceName@devices} [still] (dead|alive|offline|online|working|responding|reachable|broken|ok|okay)',
    ],
    'measure typed': [
      '[what is|tell me] [the] [current] {what:temperature|humidity} [in [the|my|our] {room@rooms}] in <in_unit>',
      'how {what:warm=temperature|hot=temperature|cold=temperature|humid=humidity} is it [in [the|my|our] {room@rooms}] in <in_unit>',
    ],
  },
  list_zwave_devices: {
    'which typed': [
      '(have|has) <somebody> left (anything|something) {state@states} [in [the|my|our] {room@rooms}|anywhere]',
    ],
    'scenes typed': [
      '(what|which) scenes (are there|do (i|we|you) have|can (i|we|you) (start|run|use|activate)|exist) [here]',
      '(list|show|tell|give|name) [me] [all] [the|my|our] [available] scenes',
      '[are there|do (i|we) have] any scenes',
    ],
  },
  check_zwave_health: {
    'call typed': [
      'is everything <is_fine> [with [<the>] [z-wave|zwave] [network|devices|home|house|system]]',
      'check [<the>] (network|devices)',
      '(are|is) [there] any [of <the>] (devices|device) [that are] <is_dead>',
      '(are|is) there [any] (dead|broken|offline) (devices|device)',
      '(which|what) devices (are|is) <is_dead>',
      'is (anything|something) <is_dead>',
      '(are|do) all [<the>] devices (<is_fine>|work|respond)',
      '[system] status',
    ],
  },
}

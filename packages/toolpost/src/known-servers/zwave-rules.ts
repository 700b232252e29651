/*
 * Home vocabulary shared by several sentences: the rules they refer to, and the states of devices.
 */

/**
 * Sentences of a tool, by meaning: `call` calls it with the values they contain. Those marked `typed` are too short or too
 * similar to others to be recognised in speech.
 */
export type SentencesByMeaning = Readonly<Record<string, readonly string[]>>

/** Rules that the sentences of a home refer to. */
export const HOME_RULES: Readonly<Record<string, string>> = {
  the: 'the|my|our|a|an|that',
  except: 'except [for]|but [not]|apart from|other than',
  adjust: 'set|turn|switch|put|bring|dim|change|drop|bump|lower|raise|adjust|take|move|get|knock|brighten',
  nudge: 'turn|bump|crank|bring|take|push|knock|pump|notch|nudge|put|move',
  flick: 'flick|pop|stick|click|snap|bang|chuck|throw|knock|whack|flip|put|get|have|make',
  fully:
    '(full|maximum|max) [blast|whack|power|brightness|strength|tilt|level]|(the|its) (max|maximum|brightest|highest) [brightness|level|setting]|as bright as (possible|it gets|it goes|it can [be|get|go])|all the way up',
  barely:
    '(the|its) (dimmest|lowest) [brightness|level|setting]|as (dim|dark|low) as (possible|it gets|it goes|it can [be|get|go])',
  heat: 'heat|heating|temperature|temp|thermostat',
  warmth: '{direction:warmer=up|hotter=up|cooler=down|colder=down|less warm=down|less cold=up}',
  i_want:
    'i want|i need|i would like|i should like|i would like to have|i should like to have|i want to have|give me|get me|can we get|can we have|can i get|can i have|could we have|could i have|let me have|i would prefer|i would love|we want|we need|we would like',
  make_it: '(make|i want|i need|i would like|i would prefer|can we have) [it]',
  warmer: '<warmth>|more (warm|hot) {direction=up}|more (cold|cool) {direction=down}',
  bit: '<a_bit>|<a_lot>',
  a_bit: '(a [little] bit|a little|slightly|somewhat|a touch|a tad|a notch) [more] {size=small}',
  a_lot: '(a lot|much|way|a great deal) [more] {size=large}',
  by: '<bit>|by {amount#number}|by [a] half {amount=50}|{amount#number}|[by] <few>',
  few: 'a couple [of] {amount=2}|a few {amount=3}|half a {amount=0.5}|a degree {amount=1}|a degree and a half {amount=1.5}',
  by_percent:
    'by [another] {amount#percent} [more|further]|{amount#percent} (more|further)|(another|a further) {amount#percent}',
  so_much: '[another] {amount#percent}',
  scaled: '{factor:double=2|triple=3|halve=0.5}',
  times_as: '{factor:twice=2|half=0.5|three times=3}',
  should_be: 'should|needs to|need to|has to|have to|must|ought to',
  is_fine: 'ok|okay|fine|well|working|alright|all right|healthy|online|alive',
  is_dead: 'dead|offline|broken|down|unreachable|not (working|responding|reachable)',
  in_unit: 'percent|%|celsius|degrees [celsius]|centigrade',
  some_degrees: '{amount#number} <degrees>|<few> [<degrees>]',
  somebody:
    'i|we|you|he|she|they|someone|somebody|anybody|anyone|the (kids|children|boys|girls)|mum|mom|dad|my (wife|husband)',
  degrees: 'degrees|degree|degrees (celsius|centigrade|fahrenheit|c|f)|celsius|c',
}

/** What can be said to a device of each kind, `…` being its name. */
export const HOME_EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  switch: ['turn … on', 'is … on'],
  dimmer: ['turn … on', 'dim … to 30 percent', 'is … on'],
  cover: ['open …', 'set … to 50 percent', 'is … open'],
  lock: ['lock …', 'is … locked'],
  thermostat: ['set … to 21 degrees', 'what is … set to'],
  sensor: ['what does … say'],
}

/** The states that a question may ask about, and how people say them. */
export const HOME_STATES: Readonly<Record<string, readonly string[]>> = {
  on: ['on'],
  off: ['off'],
  open: ['open', 'opened', 'up', 'raised'],
  closed: ['closed', 'shut', 'down', 'lowered'],
  locked: ['locked'],
  unlocked: ['unlocked'],
}

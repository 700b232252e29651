/*
 * Home vocabulary shared by several sentences: the rules they refer to, and the states of devices.
 */

/**
 * Sentences of a tool, by meaning: `call` calls it with the values they contain. Those marked `typed` are too short or too
 * similar to others to be told apart by ear.
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
  few: 'a couple [of] {amount=2}|a few {amount=3}|half a {amount=0.5}|a degree {amount=1}',
  some_degrees: '{amount#number} <degrees>|<few> [<degrees>]',
  somebody:
    'i|we|you|he|she|they|someone|somebody|anybody|anyone|the (kids|children|boys|girls)|mum|mom|dad|my (wife|husband)',
  degrees: 'degrees|degree|degrees (celsius|centigrade|fahrenheit|c|f)|celsius|c',
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

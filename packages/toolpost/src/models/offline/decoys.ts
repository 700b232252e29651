import type { RuleWriter, States } from './rule-writer.ts'

/*
 * Sentences that mean nothing here: a recognizer must be able to hear these too, or it would hear the nearest command
 * instead.
 */

/** Devices that homes have, but this one may not. */
export const MISSING_DEVICES: readonly string[] =
  `tv;television;radio;music;oven;kettle;coffee machine;dishwasher;washing machine;
  fan;air conditioning;heater;vacuum;computer;printer;sprinkler;alarm;camera;garage door;garden light;kitchen light;bedroom light;
  bathroom light;dining room light;hall light;office light;desk lamp;floor lamp;switch one;switch two;switch three;demo switch;
  fireplace;pump;water;shower;stove;iron;toaster;microwave`
    .split(/;\s*/)
    .map(name => name.trim())

const lines = (text: string) => text.split(';').map(phrase => phrase.trim().split(' '))

/** Before a command: it is not wanted, or only talked about. */
const BEFORE =
  lines(`don't;do not;please don't;never;should i;should we;can i;do i have to;how do i;why did you;did you;i forgot to;
  remind me to;you should not;if i say;when i come home;tomorrow;later;i will;i want to;do you want me to;tell her to;tell him to`)
/** After a command: not now. */
const AFTER =
  lines(`in ten minutes;in five minutes;in twenty minutes;in a minute;in an hour;in half an hour;in two hours;
  in the morning;in the evening;tomorrow;tomorrow morning;tonight;later;at six;at seven;at eight;at nine;at ten;at noon;
  at midnight;at sunset;at night;when i get home;when i come home;when i leave;when it gets dark;when it rains;if it rains;
  if it is dark;if it gets dark;for ten minutes;for an hour;until midnight;until tomorrow;every day;every morning;every night;
  on monday;on friday;on sunday;after dinner;after the movie;before dinner;next week;this evening;before i leave;as soon as i leave`)
const PAST =
  lines(`i turned;i switched;he turned;she turned;he switched;she switched;we turned;somebody turned;they turned;who turned;
  i already turned;you turned;my wife turned;my husband turned`)
/** Possibly one of several: without a name, a question comes back. */
const UNNAMED = lines(
  'the light;the lights;the lamp;it;everything;the heater;the tv;the switch;the door;the blinds',
)

/** No sentence unlocks anything; without these, "unlock" would be heard as "lock". */
const UNLOCK = lines('unlock;unlock the;unlock my;open the lock of the')

interface Known {
  /** Sentences that begin with a verb. */
  commands: number | undefined
  /** The names of locks. */
  locks: number | undefined
}

/** Adds paths for sentences that mean nothing. */
export function addDecoys(writer: RuleWriter, { commands, locks }: Known): States {
  const from = writer.start
  const phrases = (at: States, all: readonly string[][]) => all.flatMap(phrase => writer.words(at, phrase))
  const switched = (verbs: States) =>
    phrases([...writer.word(verbs, 'on'), ...writer.word(verbs, 'off')], UNNAMED)
  const denied = writer.rule(phrases(from, BEFORE), commands)
  const unnamed = switched(phrases(from, lines('turn;switch')))
  const later = phrases([...writer.rule(from, commands), ...unnamed], AFTER)
  const unlocked = writer.rule(phrases(from, UNLOCK), locks)
  return [...denied, ...later, ...switched(phrases(from, PAST)), ...unlocked]
}

import type { RuleWriter, States } from './rule-writer.ts'

/*
 * What is said and means nothing here: whoever listens along the graph must be able to hear that too, or the nearest
 * command would be heard instead.
 */

/** Things that homes have, and this one may not. */
export const MISSING_DEVICES: readonly string[] = `tv;television;radio;music;oven;kettle;coffee machine;dishwasher;washing machine;
  fan;air conditioning;heater;vacuum;computer;printer;sprinkler;alarm;camera;garage door;garden light;kitchen light;bedroom light;
  bathroom light;dining room light;hall light;office light;desk lamp;floor lamp;switch one;switch two;switch three;demo switch;
  fireplace;pump;water;shower;stove;iron;toaster;microwave`
  .split(/;\s*/)
  .map(name => name.trim())

const BEFORE = [
  "don't",
  'do not',
  'never',
  'should i',
  'can i',
  'do i have to',
  'how do i',
  'why did you',
  'did you',
  'i forgot to',
  'remind me to',
  'you should not',
  'if i say',
  'when i come home',
  'tomorrow',
  'later',
]
const AFTER = [
  'in ten minutes',
  'in five minutes',
  'in an hour',
  'in half an hour',
  'in the morning',
  'tomorrow',
  'tonight',
  'later',
  'at seven',
  'at eight',
  'at sunset',
  'when i get home',
  'when i leave',
  'if it rains',
  'if it gets dark',
  'for ten minutes',
  'until midnight',
  'every day',
  'on monday',
  'after dinner',
]
const PAST = ['i turned', 'i switched', 'he turned', 'she turned', 'somebody turned', 'they turned', 'who turned']

/** Ways through sentences that mean nothing. */
export function addDecoys(writer: RuleWriter, commands: number): States {
  const from = writer.start
  const denied = BEFORE.flatMap(phrase => writer.rule(writer.words(from, phrase.split(' ')), commands))
  const command = writer.rule(from, commands)
  const later = AFTER.flatMap(phrase => writer.words(command, phrase.split(' ')))
  const past = PAST.flatMap(phrase => {
    const verb = writer.words(from, phrase.split(' '))
    return ['on', 'off'].flatMap(state => {
      const done = writer.word(verb, state)
      return ['it', 'the light', 'the lights', 'everything'].flatMap(thing => writer.words(done, thing.split(' ')))
    })
  })
  return [...denied, ...later, ...past]
}

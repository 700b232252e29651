import type { SentencesByMeaning } from './zwave.ts'

/** Sentences for local tools that need more than one call, or are only typed. */
export const LOCAL_SENTENCES: Readonly<Record<string, SentencesByMeaning>> = {
  math_eval: { 'call typed': ['how many {expression#math}'] },
  volume: {
    step: [
      'turn {direction:up|down} [the] (volume|sound|music|speaker|speakers) [<by>]',
      'turn [the] (volume|sound|music|speaker|speakers) {direction:up|down} [<by>]',
      '{direction:raise=up|increase=up|lower=down|decrease=down|reduce=down} [the] (volume|sound) [<by>]',
      '[the] volume {direction:up|down} [<by>]',
      '(make it|turn it|i want it) [<bit>] {direction:louder=up|quieter=down|softer=down}',
      'make [the] (volume|sound|music) [<bit>] {direction:louder=up|quieter=down|softer=down}',
      'turn it {direction:up|down} [<by>]',
    ],
    'call typed': [
      '(mute|silence) (yourself|everything|the (speaker|speakers)) {action=mute}',
      '(silence|hush|shush|quiet|keep quiet|stop talking|zip it|pipe down) {action=mute}',
      '{level#percent} volume {action=set}',
      '<nudge> [up|down] [the] (volume|sound) [up|down] to {level} {action=set}',
      '[the] (sound|volume) back {action:on=unmute}',
      '(set|turn|put|make) [the] (volume|sound) {level#percent} {action=set}',
    ],
    'step typed': [
      '(<scaled>|half {factor=0.5}) [the] (volume|sound)',
      '(cut|reduce|turn down) [the] (volume|sound) (in|by) half {factor=0.5}',
      '<nudge> {direction:up|down} [the] (volume|sound|music|speaker|speakers) [<by>]',
      '<nudge> [the] (volume|sound|music|speaker|speakers) {direction:up|down} [<by>]',
      '[<bit>] {direction:louder=up|quieter=down|softer=down}',
    ],
    'complaint typed': [
      '[it is] [far|much|way|a bit|a little] too {direction:loud=down|quiet=up} [in here|here]',
    ],
  },
}

/** Questions that no other sentence matches are looked up in the notes. */
export const NOTES = {
  tool: 'search_documents',
  sentences: [
    '(what is|what are|tell me|give me|show me|do you know) (the|my|our) {query}',
    '(where is|where are) (the|my|our) {query}',
    'where (do|did) (i|we) {query}',
    'when (is|are) [the|my|our] {query}',
    'when (was|were|does|do) (the|my|our) {query}',
    'when did (i|we) {query}',
    'how (often|many times) (should|do|must) (i|we) {query}',
    'when do (we|i) {query}',
    'who is (the|my|our) {query}',
    'how do (i|we) {query}',
    '(find|show|read) [me] (the|my|our) notes (about|on|for) {query}',
  ],
} as const

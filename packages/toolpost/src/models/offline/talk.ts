import type { Tool } from '../../tools/tool.ts'
import { didYouMean } from './asked-back.ts'
import { CANNOT } from './cannot.ts'
import type { Grammar } from './grammar.ts'
import { matchSentence, prepareSentence, type Sentence } from './match.ts'
import { listWords, type Meaning, saying } from './meaning.ts'
import type { Request } from './request.ts'
import { tellingWords } from './suggestions.ts'

/*
 * Answers without any tool: greetings, thanks, what can be done here, and what cannot.
 */

/** What is said → the answer. `{text}` is anything. */
const SMALL_TALK: readonly (readonly [readonly string[], string])[] = [
  [
    [
      '[many] (thanks|thank you|cheers|ta|thx) [very much|so much|a lot|again|a bunch|a million|for [your|the] help|for that|everyone] [indeed] [you are (a star|the best|great|very kind|too kind|an angel|a lifesaver)]',
      '[that is|you are|it is] [so|very|really|just] (great|perfect|nice|cool|awesome|lovely|excellent|brilliant|wonderful|amazing|fantastic|helpful|the best|a star|much better|better)',
      '(good (job|work|bot|girl|boy)|well done|nice one|i appreciate it|much appreciated|much obliged)',
    ],
    'You are welcome.',
  ],
  [
    ['(hi|hello|hey|howdy) [there|again]', 'good (morning|afternoon|evening|day)', 'hello {text}'],
    'Hello! What can I do for you?',
  ],
  [['(goodbye|bye|bye bye|good night|see you [later|soon]|sleep well)'], 'Goodbye.'],
  [
    [
      'how are you [doing] [today]',
      'how is it going',
      'are you there',
      'are you (listening|awake|working)',
      'can you hear me',
    ],
    'I am here and ready.',
  ],
  [['who are you', 'what are you', 'what is your name'], 'I am the assistant of this home.'],
  [
    [
      '(never mind|nevermind|forget it|cancel|cancel that|stop|nothing|no thanks|no thank you|that is all|that is it)',
    ],
    'Okay.',
  ],
  [['unlock {text}', 'open the lock {text}'], 'I do not unlock doors this way; use the unlock tool itself.'],
]

const ABOUT_ME = [
  '[tell me|show me] what (can you|do you|you can|you|i can) do [for (me|us)|around here|here]',
  'what (kind|kinds|sort|sorts|type|types) of (things|stuff|commands|tasks|questions) (can|do) (you do|you (handle|understand|know)|i (say|ask))',
  'what (are you|you are) (able to do|capable of|good (for|at)|for)',
  'what (things|stuff|all) can you do',
  'what can you (help|assist) [me|us] with',
  'how can you help [me|us]',
  'what are (my|the) options',
  '(list|show|tell) [me] [all] (your|the) (commands|skills|features|functions|abilities)',
  'what can i (say|ask|do) [you] [here|to you]',
  '[i need|give me|show me|can i get] [some] help [me]',
  'what (are|is) (your commands|possible)',
  'how does this work',
  'how do i use (you|this)',
  'what do you (know|understand)',
  'what else can you do',
]

/** Likely intent → hints at it. */
const HINTS: readonly (readonly [string, readonly string[]])[] = [
  [
    'make it warmer',
    [
      'i am [so|too|very|really|a bit|feeling|freezing] (cold|freezing)',
      'it is [so|very|really|a bit|quite|pretty] (cold|freezing|chilly) [in here|here|inside]',
    ],
  ],
  [
    'make it cooler',
    [
      'i am [so|too|very|really|a bit|feeling] (hot|warm|boiling|melting|roasting|sweating)',
      'it is [so|very|really|a bit|quite|pretty|boiling] (hot|warm|boiling) [in here|here|inside]',
    ],
  ],
  [
    'make it brighter',
    ['it is [a bit|quite] dark in here', 'i can not see anything', "i can't see (anything|a thing)"],
  ],
  ['turn the volume up', ["i can't hear (you|it|anything)", 'i can barely hear (you|it)']],
]

interface Talk {
  sentence: Sentence
  /** `cannot` is true only if no tool may be meant. */
  kind: 'talk' | 'ask' | 'cannot'
  answer(grammar: Grammar): string
}

const prepare = (templates: readonly string[], answer: Talk['answer'], kind: Talk['kind'] = 'talk') =>
  templates.map(template => ({ sentence: prepareSentence(template, {}), answer, kind }))

let prepared: Talk[] | undefined

function talks(): Talk[] {
  prepared ??= [
    ...SMALL_TALK.flatMap(([templates, answer]) => prepare(templates, () => answer)),
    ...HINTS.flatMap(([meant, templates]) => prepare(templates, () => didYouMean(meant), 'ask')),
    ...prepare(ABOUT_ME, whatCanBeDone),
    ...CANNOT.flatMap(([what, templates]) =>
      prepare(templates, () => `I cannot ${what}: there is no tool for that here.`, 'cannot'),
    ),
  ]
  return prepared
}

/** The reply to small talk or to a request that no tool is for; `undefined` for anything else. */
export function talkAbout(request: Request, grammar: Grammar): Meaning | undefined {
  let best: { talk: Talk; score: number } | undefined
  for (const talk of talks()) {
    const match = matchSentence(talk.sentence, request)
    if (match && (!best || match.score > best.score)) best = { talk, score: match.score }
  }
  if (!best) return undefined
  const { kind, answer } = best.talk
  if (kind !== 'cannot') return saying(kind, answer(grammar))
  return mayMeanATool(request, grammar) ? undefined : saying('talk', answer(grammar))
}

const wordsOfOthers = new WeakMap<Grammar, ReadonlySet<string>>()

/** Whether a tool that came from somewhere else has a sentence about the same thing. */
function mayMeanATool({ words }: Request, grammar: Grammar): boolean {
  let known = wordsOfOthers.get(grammar)
  if (!known) {
    const others = grammar.sentences.filter(({ tool }) => !isKnown(grammar, tool))
    known = new Set(others.flatMap(({ sentence }) => tellingWords(sentence)))
    wordsOfOthers.set(grammar, known)
  }
  return words.some(({ key }) => known.has(key))
}

const SKILLS: Readonly<Record<string, string>> = {
  control_zwave_device: 'switch and dim the devices in your home',
  get_device_sensor_data: 'tell you the state of your devices',
  set_thermostat: 'set the heating',
  activate_scene: 'start scenes',
  datetime: 'tell the time and the date',
  volume: 'change the volume',
  math_eval: 'calculate',
  search_documents: 'look something up in your notes',
  search: 'search the web',
}

function whatCanBeDone(grammar: Grammar): string {
  const skills = Object.entries(SKILLS).flatMap(([name, skill]) => (grammar.tool(name) ? [skill] : []))
  const others = grammar.sentences.map(({ tool }) => tool).filter(tool => !isKnown(grammar, tool))
  const more = [...new Set(others.map(({ title, name }) => title ?? name.replaceAll('_', ' ')))]
  const all = [...skills, ...more.map(name => `use ${name}`)].slice(0, 10)
  return all.length > 0 ? `I can ${listWords(all)}.` : 'There are no tools here that I can use.'
}

function isKnown(grammar: Grammar, tool: Tool): boolean {
  return Object.keys({
    ...SKILLS,
    control_lock: '',
    list_zwave_devices: '',
    check_zwave_health: '',
    echo: '',
  }).some(name => grammar.tool(name) === tool)
}

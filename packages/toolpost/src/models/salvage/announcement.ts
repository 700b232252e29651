/*
 * Whether the words before a call announce it: "Let me check the weather." Only then is the call meant. Words that
 * explain, quote, ask, deny or postpone are not an announcement, and neither are words we do not understand.
 */

const MAX_CHARS = 200

const BEGINNINGS = [
  "i'll|i will|i'm going to|i am going to|let me|let's|let us|now i'll|now i will|first, i'll|first i'll",
  'checking|looking|searching|fetching|getting|turning|switching|setting|calculating|calling|using|retrieving|one moment',
]
const COURTESIES = 'sure|okay|ok|certainly|of course|alright|all right|yes|great|got it|right away'
const DEEDS =
  'check|look|find|get|search|fetch|see|turn|switch|set|calculate|compute|do|use|call|query|retrieve|run|pull|read|list|dim|start|stop|play|add|open|close|lookup|gather|consult|access|ask'

/** Words that explain, quote, ask, deny, postpone or suppose. */
const DOUBTS =
  "example|examples|e.g|instance|format|formatted|syntax|would|could|should|might|may|can|how|documentation|docs|doc|readme|manual|such|like|looks|don't|dont|not|no|never|nothing|instead|won't|wont|cannot|can't|couldn't|wouldn't|shouldn't|isn't|doesn't|didn't|without|refuse|unable|if|unless|when|once|until|after|before|later|tomorrow|wait|confirm|confirmation|permission|you|user|users|says|said|wrote|written|write|explain|explains|explained|means|meaning|know|show|shows|showing|demonstrate|illustrate|template|placeholder|sample|json|schema|code|snippet|quote|quoted|log|logs|logged|output|message|text|reply|response|earlier|previous|previously|last|yesterday|already|was|were|did|had|been|failed|error|wrong|mistake|invalid|avoid|suppose|imagine|pretend|hypothetically|describe|description|definition|document|tutorial|test|tests|option|options|either|or|maybe|perhaps|probably|think|but|however|actually"

const BEGINS = new Set(BEGINNINGS.join('|').split('|'))
const POLITE = new Set(COURTESIES.split('|'))
const DOES = new Set(DEEDS.split('|'))
const DOUBTFUL = new Set(DOUBTS.split('|'))

/** Words allowed between "let me" and the verb. */
const FILLERS = new Set([
  'just',
  'quickly',
  'now',
  'go',
  'and',
  'take',
  'a',
  'have',
  'please',
  'first',
  'to',
  'the',
])

/** `true` for an empty text, too. */
export function isAnnouncement(text: string): boolean {
  const lead = text.trim()
  if (lead === '') return true
  if (lead.length > MAX_CHARS || /["“”`?<>{}[\]()*#|=]/.test(lead)) return false
  const words = wordsOf(lead)
  if (hasDoubt(lead)) return false
  return begins(words.slice(courtesies(words)))
}

/** Whether the text explains, quotes, asks, denies, postpones or supposes. */
function hasDoubt(text: string): boolean {
  return text.includes('?') || wordsOf(withoutHarmless(text)).some(word => DOUBTFUL.has(word))
}

/** "Let me check that for you", "let me see if it is on": these express no doubt. */
function withoutHarmless(text: string): string {
  return text.toLowerCase().replaceAll(' for you', '').replaceAll('check if ', '').replaceAll('see if ', '')
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .split(/[^\p{L}\p{N}'.]/u)
    .map(word => word.replace(/^[.']|[.']$/g, ''))
    .filter(word => word !== '')
}

function courtesies(words: readonly string[]): number {
  let at = 0
  while (at < words.length && at < 3) {
    const two = `${words[at]} ${words[at + 1]}`
    if (POLITE.has(words[at] ?? '')) at++
    else if (POLITE.has(two)) at += 2
    else break
  }
  return at
}

/** "I'll check", "let me quickly look", "checking": about to do it. */
function begins(words: readonly string[]): boolean {
  if (words.length === 0) return true
  for (let length = 4; length > 0; length--) {
    if (!BEGINS.has(words.slice(0, length).join(' '))) continue
    const isDoing = length === 1 && (words[0] ?? '').endsWith('ing')
    const deed = words.slice(length).find(word => !FILLERS.has(word))
    return isDoing || words.slice(0, length).join(' ') === 'one moment' || DOES.has(deed ?? '')
  }
  return false
}

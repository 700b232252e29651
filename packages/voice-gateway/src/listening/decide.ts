import type { HeardSentence, Listened } from '../speech-to-text/transcriber.ts'
import { type Candidate, Candidates } from './candidates.ts'
import type { DecideOptions, Decision, Heard } from './heard.ts'
import { HeardSound } from './heard-sound.ts'
import { saidWords } from './said-words.ts'
import {
  areOpposites,
  areTeens,
  asQuestion,
  beginsOddly,
  beginsOtherwise,
  doesSeveral,
  doesSomething,
  endsWithAction,
  hasNumbersOf,
  isQuestion,
  isTwo,
  isUndone,
  numbersIn,
  perWord,
  saysMore,
} from './sentence-traits.ts'
import {
  ALIKE,
  AS_LIKELY,
  LEAST_MARGIN,
  LEAST_MARGIN_IF_EXACT,
  LEAST_MARGIN_IF_UNLIKE,
  LEAST_MARGIN_OF_EXACT_TEENS,
  LEAST_MARGIN_OF_OPPOSITES,
  LEAST_MARGIN_OF_TEENS,
  LEAST_MARGIN_OF_UNDONE,
  LEAST_MARGIN_OF_UNHEARD_OPPOSITES,
  LEAST_MARGIN_OF_UNHEARD_TEENS,
  LEAST_MARGIN_TO_TELL,
  LEAST_PER_FREE_WORD,
  LEAST_PER_GUESSED_WORD,
  MISSPELT,
  NEAR,
  NEAR_IF_LIKELIER,
  NEAR_IF_LIKELY,
  NEAR_IF_TWO,
  NEAR_TO_TELL,
  NEAR_WITHOUT_VERB,
  NEARLY,
  NEARLY_AS_LIKELY,
  type Nearness,
  OUT_OF_QUESTION,
  RIVAL_WITHIN,
  SAME_SOUND,
} from './thresholds.ts'

/** Decides between a sentence of the grammar, the free transcript, and asking. Never bends other speech into a command. */
export function decide({ text, score, sentences }: Listened, options: DecideOptions): Heard {
  return new Choice({ text, score, ...options.understand(text) }, sentences, options).heard()
}

class Choice {
  readonly #free: Candidate
  readonly #sound: HeardSound
  readonly #candidates: Candidates
  readonly #options: DecideOptions

  constructor(free: Candidate, sentences: readonly HeardSentence[], options: DecideOptions) {
    this.#free = free
    this.#sound = new HeardSound(free, options.phonesOf)
    this.#options = options
    const possible = sentences.filter(
      sentence => sentence.score >= free.score || this.#sound.isNear(sentence, OUT_OF_QUESTION),
    )
    this.#candidates = new Candidates(possible, { freeText: free.text, understand: options.understand })
  }

  heard(): Heard {
    const { best } = this.#candidates
    if (!best) return this.#result(this.#free, this.#exactDecision(undefined))
    const margin = this.#candidates.margin(best)
    if (this.#isFreeSentence(best))
      return this.#result(this.#free, this.#exactDecision({ ...best, margin }), margin)
    if (!doesSomething(best)) return this.#besideDecoy(best, margin)
    return this.#bound(best, margin)
  }

  /**
   * Whether the free transcript is what was said: a sentence of the grammar, or one that only free text can express (a
   * search), unless a sentence sounds just like it, in which case the transcript is misspelt.
   */
  #isFreeSentence(best: Candidate): boolean {
    const free = this.#free
    if (!doesSomething(free)) return false
    if (best.key === free.key || this.#candidates.hasFree) return true
    return !this.#sound.isNear(best, free.isGuess ? NEARLY : MISSPELT)
  }

  /** The free transcript is a sentence: it stands, unless something else is as likely. ("Then switch one on" was "is …".) */
  #exactDecision(best: (Candidate & { margin: number }) | undefined): Decision {
    const free = this.#free
    if (!doesSomething(free)) return 'free'
    const isUnwritten = best?.key !== free.key && !this.#candidates.hasFree
    const least = free.isGuess ? LEAST_PER_GUESSED_WORD : LEAST_PER_FREE_WORD
    if ((isUnwritten && perWord(free) < least) || this.#isDoubtful(free) || this.#asked(free)) return 'ask'
    if (free.changes && beginsOddly(free.text)) return 'ask'
    if (best && free.changes && !this.#candidates.hasFree && this.#isHalfQuestion(best)) return 'ask'
    if (!best || !(free.changes || numbersIn(free.text).length > 0)) return 'exact'
    const isClose =
      best.key === free.key
        ? best.margin < (this.#candidates.hasFree ? this.#leastExactMargin(best) : this.#leastMargin(best))
        : free.score - best.score < LEAST_MARGIN
    return isClose ? 'ask' : 'exact'
  }

  #bound(likeliest: Candidate, margin: number): Heard {
    const other = this.#candidates.besides(likeliest)
    const isTie =
      likeliest.changes && other?.kind === 'tell' && margin < LEAST_MARGIN && this.#isWithoutVerb(likeliest)
    const best = isTie ? other : likeliest
    const isUnlike = best.changes && !this.#sound.isNear(best, ALIKE)
    const isClose =
      !isTie && margin < Math.max(this.#leastMargin(best), isUnlike ? LEAST_MARGIN_IF_UNLIKE : 0)
    const isNear = this.#sound.isNear(best, this.#nearnessFor(best))
    const isOther = !isNear && !this.#sound.isNear(best, NEARLY)
    if (isOther || saysMore(this.#free.text, best.text))
      return this.#result(this.#free, doesSomething(this.#free) ? 'ask' : 'free', margin)
    if (isClose) return this.#result(this.#nearestBeside(best), 'ask', margin)
    const asked = this.#asked(best)
    if (asked) return this.#result({ ...best, text: asked }, isNear ? 'sentence' : 'ask', margin)
    const isSure =
      isNear &&
      !this.#isRefused(best) &&
      !this.#isUnheardEnd(best) &&
      !this.#isDoubtful(best) &&
      !this.#isOtherNumber(best) &&
      !this.#isPerhapsSearch(best)
    return this.#result(best, isSure ? 'sentence' : 'ask', margin)
  }

  /** Of those about as likely, the one that sounds most like what was heard is worth asking about. */
  #nearestBeside(best: Candidate): Candidate {
    const candidates = this.#candidates.within(LEAST_MARGIN, best).filter(doesSomething)
    return candidates.reduce(
      (nearest, other) => (this.#sound.isNearer(other, nearest) ? other : nearest),
      best,
    )
  }

  #nearnessFor(best: Candidate): Nearness {
    const belowFree = this.#free.score - best.score
    if (this.#sound.isNear(best, SAME_SOUND)) return SAME_SOUND
    if (belowFree <= 0) return NEAR_IF_LIKELIER
    if (isTwo(best.text) || doesSeveral(best)) return NEAR_IF_TWO
    if (best.changes && this.#isWithoutVerb(best)) return belowFree <= AS_LIKELY ? NEAR : NEAR_WITHOUT_VERB
    if (isQuestion(best) && this.#candidates.margin(best) >= LEAST_MARGIN_TO_TELL) return NEAR_TO_TELL
    return belowFree <= NEARLY_AS_LIKELY ? NEAR_IF_LIKELY : NEAR
  }

  /** The likeliest sentence does nothing. One that does something and is nearly as likely is asked about. */
  #besideDecoy(best: Candidate, margin: number): Heard {
    const rival = this.#candidates.find(doesSomething)
    if (rival && best.score - rival.score < RIVAL_WITHIN && this.#sound.isNear(rival, NEAR))
      return this.#result(rival, 'ask', margin)
    const isSaid = best.kind !== 'nothing' && this.#sound.isNear(best, NEAR)
    return isSaid ? this.#result(best, 'sentence', margin) : this.#result(this.#free, 'free', margin)
  }

  #result({ text }: Candidate, decision: Decision, margin?: number): Heard {
    return { text, free_text: this.#free.text, decision, ...(margin !== undefined && { margin }) }
  }

  #leastExactMargin(best: Candidate): number {
    const other = this.#candidates.besides(best)
    if (other && isUndone(best.text, other.text)) return LEAST_MARGIN_OF_UNDONE
    return other && areTeens(best.text, other.text) ? LEAST_MARGIN_OF_EXACT_TEENS : LEAST_MARGIN_IF_EXACT
  }

  /** Telling instead of doing does no harm; but "could you" is easily heard as "did you". */
  #leastMargin(best: Candidate): number {
    const other = this.#candidates.besides(best)
    if (!other) return 0
    if (best.kind === 'tell' && other.kind !== 'tell') {
      const isAsLikely = beginsOtherwise(best.text, other.text) || this.#sound.isNearer(other, best)
      const isCommand = other.changes && isAsLikely && !this.#isHalfQuestion(other)
      return isCommand ? LEAST_MARGIN_OF_OPPOSITES : 0
    }
    if (isUndone(best.text, other.text)) return LEAST_MARGIN_OF_UNDONE
    if (areTeens(best.text, other.text))
      return hasNumbersOf(this.#free.text, best.text) ? LEAST_MARGIN_OF_TEENS : LEAST_MARGIN_OF_UNHEARD_TEENS
    if (!areOpposites(best.text, other.text)) return LEAST_MARGIN
    const isUnheard = endsWithAction(best.text) && !endsWithAction(saidWords(this.#free.text).join(' '))
    return isUnheard ? LEAST_MARGIN_OF_UNHEARD_OPPOSITES : LEAST_MARGIN_OF_OPPOSITES
  }

  /** The free transcript has another number, or none of several: it may be wrong, for a device or a calculation. */
  #isOtherNumber({ text, score }: Candidate): boolean {
    const [meant, heard] = [numbersIn(text), numbersIn(this.#free.text)]
    if (heard.length === 0) return meant.length > 1 && this.#free.score - score > NEARLY_AS_LIKELY
    return heard.some(word => !meant.includes(word)) && meant.some(word => !heard.includes(word))
  }

  /** If a no was heard, nothing is done without asking, unless the no is the less likely of the two. */
  #isRefused({ score }: Candidate): boolean {
    return this.#options.isRefusal === true && score < this.#free.score
  }

  /** "Lights up" for "lights off please": the action word was not heard. */
  #isUnheardEnd({ text, changes }: Candidate): boolean {
    return changes && endsWithAction(text) && !this.#sound.endsLike(text)
  }

  /** A clear free transcript may be a question for the notes, unless it is just another spelling of the sentence. */
  #isPerhapsSearch(best: Candidate): boolean {
    const isClear = perWord(this.#free) >= LEAST_PER_GUESSED_WORD
    const isLikelier = this.#free.score - best.score > NEARLY_AS_LIKELY
    return this.#free.isGuess === true && isClear && isLikelier && !this.#sound.isNear(best, MISSPELT)
  }

  /** "Switch one on": with an easily missed word before it, it would be a question. */
  #isHalfQuestion({ text }: Candidate): boolean {
    return this.#options.understand(`is ${text}`).kind === 'tell'
  }

  /** "Are the blinds closed" is easily misheard as "all the blinds closed". */
  #asked({ text, changes }: Candidate): string | undefined {
    const asked = changes ? asQuestion(text) : undefined
    return asked !== undefined && this.#options.understand(asked).kind === 'tell' ? asked : undefined
  }

  /** "The light at twenty percent": the missed verb may have been a different one, "dim … by". */
  #isWithoutVerb(sentence: Candidate): boolean {
    return (
      this.#isHalfQuestion(sentence) || this.#options.understand(`set ${sentence.text}`).key === sentence.key
    )
  }

  /** Whether another sentence that sounds the same would do something else. */
  #isDoubtful({ key, changes, text }: Candidate): boolean {
    if (!changes) return false
    return this.#options.soundAlikes(text).some(other => {
      const meaning = this.#options.understand(other)
      return doesSomething(meaning) && meaning.key !== key
    })
  }
}

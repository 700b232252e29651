// The real product, without sound: `toolpost up --voice` with the example and its sentences.
import { execFileSync } from 'node:child_process'
import { openProject } from 'toolpost/project'
import { stderrLogger } from 'toolpost/terminal'
import { startHome } from 'zwave-mcp-server/home'
import { startVoice } from '../../packages/voice-gateway/dist/index.js'
import { HOME, watchHome } from './home.mjs'

/** A gateway with a virtual home; `devices` replaces those of the example. */
export async function openSession({ devices = HOME.devices, microphone = false, speaker } = {}) {
  const running = await startHome({ ...HOME, devices })
  process.env.MQTT_BROKER_URL = running.url
  const project = await openProject({
    logger: () => stderrLogger('fatal'),
    say: text => console.error(text),
    model: { wanted: 'offline' },
  })
  let turn
  const isOfTurn = ({ conversation }) => conversation === turn?.conversation
  const bus = {
    transcription: message => isOfTurn(message) && turn.transcription(message),
    question: message => isOfTurn(message) && turn.question(message),
    response: message => isOfTurn(message) && turn.response(message),
  }
  const voice = { ...(speaker ? {} : { speaker: 'none' }), microphone }
  const gateway = await startVoice({ project, voice, speaker, bus })
  const { durationMs } = await gateway.ready()
  const home = await watchHome(running.url)
  let count = 0
  return {
    gateway,
    home,
    readyMs: durationMs,
    /** Call before each recording; a question about it is answered with `reply`. */
    begin(reply) {
      turn = new Turn(gateway, microphone ? 'microphone' : `bench ${count++}`, reply)
      return turn
    },
    async close() {
      await home.close()
      await gateway.close()
      await project.close()
      await running.close()
      delete process.env.MQTT_BROKER_URL
    },
  }
}

/** What the bus reports for one recording: what was heard, asked, called and answered. */
class Turn {
  heard
  asked = 0
  transcribeMs
  responses = []

  constructor(gateway, conversation, reply) {
    Object.assign(this, { gateway, conversation, reply })
  }

  take(utterance) {
    const taken = this.gateway.transcriber.take({ ...utterance, conversation: this.conversation })
    if (!taken.accepted) throw new Error(taken.reason)
    return taken.done
  }

  transcription(message) {
    if (message.source !== 'audio') return
    this.heard ??= message
    this.transcribeMs ??= message.durations.transcribeMs
  }

  /** Asked in the middle of a turn: for an approval, or "Did you mean …?" */
  question() {
    this.asked++
    void this.take({ text: this.reply })
  }

  response(message) {
    this.responses.push(message)
  }

  async end() {
    const last = this.responses.at(-1)
    // An answer that is itself a question.
    if (/\?$/.test(last?.text ?? '') && last.calls.length === 0) {
      this.asked++
      await this.take({ text: this.reply })
    }
    await this.gateway.transcriber.idle()
    return {
      calls: this.responses.flatMap(({ calls }) => calls),
      texts: this.responses.map(({ text, error }) => text || error).filter(Boolean),
      asked: this.asked,
      heard: this.heard,
      transcribeMs: this.transcribeMs,
    }
  }
}

/** The memory of the speech model's process, in MB. */
export function speechMemory() {
  const lines = execFileSync('ps', ['-o', 'rss=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
  const sizes = lines
    .split('\n')
    .filter(line => line.includes('moonshine-child'))
    .map(line => Number.parseInt(line, 10))
  return Math.round(Math.max(0, ...sizes) / 1_024)
}

export function gatewayMemory() {
  return Math.round(process.memoryUsage.rss() / 1_048_576)
}

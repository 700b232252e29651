import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { Approvals, policy } from 'toolpost/interceptors'
import { ModelClient, OfflineClient } from 'toolpost/models'
import { fakeClock, scriptedModel } from 'toolpost/testing'
import { describe, expect, it } from 'vitest'
import { BackgroundTranscriber, type BackgroundTranscriberOptions } from '../src/background-transcriber.ts'
import { yesOrNo } from '../src/listening/yes-or-no.ts'
import type { QuestionMessage } from '../src/messages.ts'
import { fakeTranscriber, recordingBus, recordingSpeaker, tonePcm } from './fakes.ts'
import { eventually } from './support/eventually.ts'

/** A home where files can be deleted, which is asked about. */
function home(options: Partial<BackgroundTranscriberOptions> = {}) {
  const clock = fakeClock()
  const approvals = new Approvals({ clock })
  const tools = new ToolManager()
  const deleted: string[] = []
  tools.addCustomTool(
    defineTool<{ path: string }>({
      name: 'files__delete_file',
      description: 'Deletes a file',
      schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      destructive: true,
      sentences: ['delete {path}'],
      handler: ({ path }) => {
        deleted.push(path)
        return `${path} is gone.`
      },
    }),
  )
  const executor = new ToolExecutor(tools, { clock })
  executor.use(policy(undefined, { approvals }))
  const questions: QuestionMessage[] = []
  const bus = { ...recordingBus(), question: (message: QuestionMessage) => void questions.push(message) }
  const speaker = recordingSpeaker()
  const background = new BackgroundTranscriber({
    transcriber: fakeTranscriber(),
    client: new OfflineClient(),
    executor,
    speaker,
    bus,
    clock,
    ...options,
  })
  /** Says something, and gives what becomes of it. */
  const say = (text: string, conversation?: string) => {
    const taken = background.take({ text, conversation })
    if (!taken.accepted) throw new Error(taken.reason)
    return taken.done
  }
  const asked = (count: number) =>
    eventually(() => [questions.length, speaker.said.length >= 2 * count]).toEqual([count, true])
  return { background, approvals, clock, deleted, questions, bus, speaker, say, asked }
}

const QUESTION = 'Delete file report.txt? Say yes or no.'

describe('a call that needs approval, made by voice', () => {
  it('asks aloud and runs after a yes of the same conversation', async () => {
    const { say, asked, deleted, speaker, questions, approvals } = home()
    const answer = say('delete report.txt', 'kitchen')
    await asked(1)
    expect(deleted).toEqual([])
    expect(questions).toMatchObject([{ conversation: 'kitchen', text: QUESTION }])
    const taken = { outcome: 'answered', question: 'Yes, please.', text: '', calls: [] }
    expect(await say('Yes, please.', 'kitchen')).toMatchObject(taken)
    expect(await answer).toMatchObject({ outcome: 'answered', text: 'Report.txt is gone.' })
    expect(deleted).toEqual(['report.txt'])
    expect(speaker.said).toEqual(['Delete file report.txt?', 'Say yes or no.', 'Report.txt is gone.'])
    expect(approvals.list()).toEqual([])
  })

  it('does nothing after a no, and the next sentence is a sentence again', async () => {
    const { say, asked, deleted, speaker } = home()
    const answer = say('delete report.txt')
    await asked(1)
    await say("No, don't!")
    expect(await answer).toMatchObject({
      calls: [{ success: false, error: expect.stringContaining('denied: denied by the user (voice)') }],
    })
    expect(deleted).toEqual([])
    expect(speaker.said.at(-1)).toMatch(/denied/)
    expect((await say('yes')).text).toMatch(/did not understand/)
    expect(deleted).toEqual([])
  })

  it('never takes the answer of another conversation', async () => {
    const { say, asked, deleted } = home()
    const answer = say('delete report.txt', 'kitchen')
    await asked(1)
    const elsewhere = say('yes', 'bedroom')
    const nowhere = say('yes')
    await say('no', 'kitchen')
    await answer
    expect((await elsewhere).text).toMatch(/did not understand/)
    expect((await nowhere).text).toMatch(/did not understand/)
    expect(deleted).toEqual([])
  })

  it.each(['what is a report', 'yes or whatever you think'])(
    'takes anything else for a new request, and does nothing: %s',
    async said => {
      const { say, asked, deleted } = home()
      const answer = say('delete report.txt')
      await asked(1)
      expect((await say(said)).text).toMatch(/did not understand|did nothing/)
      expect(await answer).toMatchObject({
        calls: [{ success: false, error: expect.stringContaining('something else was said') }],
      })
      expect(deleted).toEqual([])
    },
  )

  it('takes 8 s of silence for a no and says so', async () => {
    const { say, asked, deleted, speaker, clock } = home()
    const answer = say('delete report.txt')
    await asked(1)
    await clock.advance(7_000)
    expect(speaker.said).toHaveLength(2)
    await clock.advance(1_001)
    await answer
    expect(speaker.said).toContain('I heard no answer, so nothing was done.')
    expect(deleted).toEqual([])
  })

  it('does not take somebody who is still being understood for silence, nor noise for an answer', async () => {
    let hear: ((text: string) => void) | undefined
    const transcriber = {
      ...fakeTranscriber(),
      transcribe: () =>
        new Promise<string>(resolve => {
          hear = resolve
        }),
    }
    const { background, say, asked, deleted, clock, speaker } = home({ transcriber })
    const answer = say('delete report.txt')
    await asked(1)
    const noise = background.take({ pcm: new Uint8Array(32_000) })
    background.take({ pcm: tonePcm() })
    await eventually(() => hear !== undefined).toBe(true)
    await clock.advance(59_000)
    expect(speaker.said).toHaveLength(2)
    hear?.('Yeah.')
    await answer
    expect(deleted).toEqual(['report.txt'])
    expect(noise.accepted && (await noise.done)).toMatchObject({ outcome: 'dropped' })
  })

  it('asks about one call after the other', async () => {
    const call = (path: string) => ({ name: 'files__delete_file', args: { path } })
    const model = scriptedModel({ calls: [call('a'), call('b')] }, 'Only the second is gone.')
    const { say, asked, deleted, questions } = home({ client: new ModelClient({ model }) })
    const answer = say('clean up')
    await asked(1)
    await say('no')
    await asked(2)
    await say('sure')
    expect((await answer).text).toBe('Only the second is gone.')
    expect(deleted).toEqual(['b'])
    const texts = questions.map(({ text }) => text)
    expect(texts).toEqual(['a', 'b'].map(name => `Delete file ${name}? Say yes or no.`))
  })

  it('is left to the console if it is too long to read out', async () => {
    const path = 'x'.repeat(2_100)
    const model = scriptedModel({ calls: [{ name: 'files__delete_file', args: { path } }] }, 'It is gone.')
    const { say, approvals, deleted, speaker, questions } = home({ client: new ModelClient({ model }) })
    const answer = say('clean up')
    await eventually(() => speaker.said.join(' ')).toContain('Allow it in the console first.')
    expect([questions, deleted]).toEqual([[], []])
    approvals.decide(approvals.list()[0]?.id ?? '', 'approve', { by: 'console' })
    expect((await answer).text).toBe('It is gone.')
    expect(deleted).toEqual([path])
  })
})

it.each([
  [true, ['yeah, do it', 'yes please, thank you', 'Please do.', 'That’s it.', 'well yes']],
  [
    false,
    ['No, thank you.', 'Don’t!', "please don't do that", 'yes, no, wait', 'never mind', 'of course not'],
  ],
  [undefined, ['please', 'yesterday', 'yes turn on the lamp', '', 'nobody knows']],
])('%s: %j', (meant, said) => {
  expect(said.map(yesOrNo)).toEqual(said.map(() => meant))
})

describe('an answer that is a question', () => {
  /** A client that asks whether it was meant, and says what it was given to read. */
  function conversation() {
    const clock = fakeClock()
    const read: unknown[][] = []
    const client = {
      ask: async (messages: readonly { content: unknown }[]) => {
        const said = messages.slice(1).map(({ content }) => content)
        read.push(said)
        const text = said.at(-1) === 'demo' ? 'Did you mean the demo switch?' : 'Done.'
        const answer = { role: 'assistant', content: text }
        return { text, messages: [...messages, answer], results: [], iterations: 0, stopReason: 'answer' }
      },
    }
    let next = ''
    const transcriber = { ...fakeTranscriber(), transcribe: async () => next }
    const parts = home({ client: client as never, clock, transcriber })
    const hear = async (text: string) => {
      next = text
      const taken = parts.background.take({ pcm: tonePcm(), overheard: true })
      return taken.accepted ? await taken.done : expect.unreachable()
    }
    return { ...parts, clock, hear, read }
  }

  it('is spoken also to somebody who was overheard', async () => {
    const { hear, speaker } = conversation()
    await hear('demo')
    await hear('thanks')
    expect(speaker.said).toEqual(['Did you mean the demo switch?'])
  })

  it('takes a bare yes for 8 s, and after that a yes belongs to nothing', async () => {
    const { hear, read, clock } = conversation()
    await hear('demo')
    await clock.advance(7_900)
    await hear('Yes.')
    await hear('demo')
    await clock.advance(8_100)
    await hear('Yes.')
    await hear('what did I ask')
    expect(read[1]).toEqual(['demo', 'Did you mean the demo switch?', 'Yes.'])
    expect(read[3]).toEqual(['Yes.'])
  })
})

describe('a question of a server, asked by voice', () => {
  const askedBy = (question: object) => {
    const tools = new ToolManager()
    tools.addCustomTool(
      defineTool({
        name: 'backup',
        description: 'Backs up',
        schema: { type: 'object' } as Record<string, unknown>,
        sentences: ['back up'],
        handler: async (_, { ask }) => JSON.stringify(await ask?.(question as never)),
      }),
    )
    return home({ executor: new ToolExecutor(tools) })
  }
  const boolean = { type: 'object', properties: { full: { type: 'boolean', title: 'Full backup' } } }

  it.each([
    [{ message: 'Go on?' }, 'yes', '{"action":"accept"}'],
    [{ message: 'Go on?', schema: { type: 'object', properties: {} } }, 'no', '{"action":"decline"}'],
    [{ message: 'Which one', schema: boolean }, 'no', '{"action":"accept","content":{"full":false}}'],
  ])('%j is answered by %s', async (question, said, result) => {
    const { say, asked, speaker, questions } = askedBy({ server: 'my-files', ...question })
    const answer = say('back up')
    await asked(1)
    const words = /^The server my files asks: (Go on\?|Which one\. Full backup\?) Say yes or no\.$/
    expect(questions[0]?.text).toMatch(words)
    await say(said)
    expect((await answer).text).toContain(result)
    expect(speaker.said[0]).toContain('The server my files asks')
  })

  it.each([
    [{ message: 'Who?', schema: { type: 'object', properties: { name: { type: 'string' } } } }],
    [{ message: 'Log in', url: 'https://login.example/' }],
  ])('%j is declined, and it is said that it needs a screen', async question => {
    const { say, speaker, questions } = askedBy({ server: 'files', ...question })
    expect((await say('back up')).text).toContain('"action":"decline"')
    expect(speaker.said).toContain('The server files has a question that needs a screen, so I declined it.')
    expect(questions).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { decided } from '../../test/support/decided.ts'

describe('deciding what was said', () => {
  it('asks before it does what may have been a question', () => {
    const sentences = ['all the blinds closed -2', 'are the blinds closed -4.4']
    expect(decided('All the blinds closed. -2', sentences)).toMatchObject({ decision: 'ask' })
  })

  it.each([
    ['Turn the living room like soft green. -5', 'ask'],
    ['Turn the living room like sup. -5', 'sentence'],
  ])('asks if the word that says what is done was not heard: %s', (free, decision) => {
    expect(decided(free, ['turn the living room lights up -5.5'])).toMatchObject({ decision })
  })

  it('asks before a command that begins as none does, and before one that a missed syllable would undo', () => {
    expect(decided('Then turn on switch one. -0.6', ['turn on switch one -3']).decision).toBe('ask')
    expect(decided('Mute the sound. -1', ['mute the sound -1', 'unmute the sound -2.6']).decision).toBe('ask')
    expect(decided('Mute the sound. -1', ['mute the sound -1', 'unmute the sound -5']).decision).toBe('exact')
  })

  it('takes no sentence for something that was heard with a word more', () => {
    expect(decided('Turn on switch one up. -2', ['turn on switch one -3'])).toMatchObject({
      decision: 'free',
    })
    expect(decided('Turn on a switch one, please. -2', ['turn on switch one -3'])).toMatchObject({
      decision: 'sentence',
    })
  })

  it('asks before it looks up what is a sentence with a word more', () => {
    expect(decided('What is the time maybe. -3', ['what is the time -3.5']).decision).toBe('ask')
  })

  it('takes it for the question if it was not heard freely', () => {
    expect(decided('On the lines closed. -3', ['all the blinds closed -5'])).toMatchObject({
      decision: 'sentence',
      text: 'are the blinds closed',
    })
  })

  it('takes what was heard freely if it is a sentence', () => {
    expect(
      decided('Turn on switch one. -0.6', ['turn on switch one -0.6', 'turn on the switch one -7.7']),
    ).toEqual({ text: 'Turn on switch one.', free_text: 'Turn on switch one.', decision: 'exact', margin: 9 })
  })

  it('takes the sentence that is near what was heard', () => {
    const heard = decided('Turn on slitch one. -5.5', ['turn on switch one -4.7', 'turn off switch one -9.9'])
    expect(heard).toMatchObject({
      text: 'turn on switch one',
      decision: 'sentence',
      free_text: 'Turn on slitch one.',
    })
    expect(heard.margin).toBeCloseTo(5.2)
  })

  it('asks before it switches by a sentence without a verb that was not heard just so: it may be a question', () => {
    const sentences = ['the switch one on -6.2']
    expect(decided('The, switch one on. -6.2', sentences).decision).toBe('exact')
    expect(decided('Then switch one on. -2.3', sentences).decision).toBe('ask')
  })

  it('asks before it does something with several devices that were not heard well', () => {
    const sentences = ['turn off switches -5']
    expect(decided('Turn offs which I am. -3', sentences).decision).toBe('ask')
    expect(decided('Turn off switches. -5', sentences).decision).toBe('exact')
    expect(decided('Turn off witches. -3', sentences).decision).toBe('sentence')
  })

  it('answers a question that was heard badly if nothing else resembles it, but never acts so', () => {
    expect(decided('Would mine be a? -3', ['what time is it -8.5'])).toMatchObject({ decision: 'sentence' })
    expect(decided('Would mine be a? -3', ['what time is it -8.5', 'turn on switch one -9']).decision).toBe(
      'ask',
    )
    expect(decided('Dare often bridge mum. -3', ['turn off switch one -8.5']).decision).toBe('ask')
  })

  it('takes a sentence that sounds just like what was heard for it, however unlikely its spelling', () => {
    const sentences = ['dim the living room light to thirty percent -15']
    const heard = (free: string) => decided(`${free} -2`, sentences).decision
    expect(heard('Dim the leaving room lied two thirty per cent.')).toBe('sentence')
    expect(heard('Dim the dining room light to thirty percent.')).toBe('free')
    expect(heard('He dimmed the living room light to thirty percent.')).toBe('free')
    expect(heard("Don't dim the living room light to thirty percent.")).toBe('free')
  })

  it('does not let something far shorter be what was said', () => {
    const sentences = ['what time is it -8', 'dim the living room light to thirty percent -9.5']
    expect(decided('Din the living rude light to thirty present. -5', sentences)).toMatchObject({
      decision: 'sentence',
      text: 'dim the living room light to thirty percent',
    })
  })

  it('asks if the last word says what to do, was not heard, and another is not much less likely', () => {
    const sentences = ['the lights off -5', 'the lights on -7.4']
    expect(decided('The light so. -4', sentences).decision).toBe('ask')
    expect(decided('The light soft. -4', ['the lights off -5', 'the lights on -9']).decision).toBe('sentence')
  })

  it('asks about "seventeen" and "seventy" even if one of them was heard', () => {
    const sentences = ['what is seventy plus six -3', 'what is seventeen plus six -4.1']
    expect(decided('What is seventy plus six? -3', sentences).decision).toBe('ask')
    expect(
      decided('What is seventy plus six? -3', [sentences[0] ?? '', 'what is seventeen plus six -6']),
    ).toMatchObject({
      decision: 'exact',
    })
  })

  it('takes an unclear question for a sentence that is as likely, and asks if it was clear', () => {
    const sentences = ['what time is it -4']
    expect(decided('What is the thyme visit? -3', sentences).decision).toBe('sentence')
    expect(decided('What is the name of it? -0.2', sentences).decision).not.toBe('sentence')
  })

  it('hears no apostrophe', () => {
    expect(decided("The light's off. -4", ['the lights off -5']).decision).toBe('exact')
  })

  it('asks if the contrary or another number is nearly as likely', () => {
    expect(
      decided('Done a switch one. -4', ['turn on switch one -5.1', 'turn off switch one -5.6']).decision,
    ).toBe('ask')
    const close = [
      'dim the living room light to thirty percent -9.1',
      'dim the living room light to thirteen percent -9.4',
    ]
    expect(decided('Then the living room light to thirty percent. -2', close)).toMatchObject({
      decision: 'ask',
      text: 'dim the living room light to thirty percent',
    })
    expect(
      decided('Turn on switch one. -3', ['turn off switch one -2.8', 'turn on switch one -3']).decision,
    ).toBe('ask')
  })

  it('asks about "fifteen" and "fifty" unless one of them is much likelier', () => {
    const said = (level: string) => `dim the living room light to ${level} percent`
    const heard = (margin: number) =>
      decided('Then the living room light to thirteen percent. -4', [
        `${said('thirteen')} -5`,
        `${said('thirty')} ${-5 - margin}`,
      ]).decision
    expect(heard(2)).toBe('ask')
    expect(heard(3)).toBe('sentence')
  })

  it('asks about them sooner if neither was heard freely', () => {
    const said = (level: string) => `dim the living room light to ${level} percent`
    const heard = (margin: number) =>
      decided('Then the living room light to thirsty. -4', [
        `${said('thirty')} -5`,
        `${said('thirteen')} ${-5 - margin}`,
      ]).decision
    expect([heard(3), heard(5)]).toEqual(['ask', 'sentence'])
  })

  it('asks if another number was heard freely', () => {
    const heard = decided('Then the living room light to 30 percent. -4', [
      'dim the living room light to thirteen percent -7',
    ])
    expect(heard).toMatchObject({ decision: 'ask', text: 'dim the living room light to thirteen percent' })
  })

  it('does not take another way to say the same for another meaning', () => {
    const heard = decided('Turn on slitch one. -5.5', [
      'turn on switch one -4.7',
      'please turn on switch one -4.8',
    ])
    expect(heard).toMatchObject({ decision: 'sentence', margin: 9 })
  })

  it('asks about what is only nearly near', () => {
    expect(decided('Terms it one. -4.5', ['turn on switch one -16']).decision).toBe('ask')
  })

  it('never bends other speech into a command', () => {
    const minutes = decided('Turn on switch one in 10 minutes. -1.8', ['turn on switch one -11'])
    expect(minutes).toMatchObject({ decision: 'free', text: 'Turn on switch one in 10 minutes.' })
    expect(decided('The meeting was moved to Thursday. -3', ['turn on switch one -12']).decision).toBe('free')
    expect(decided('Turn on switch one tomorrow. -3', ['turn on switch one -25']).decision).toBe('free')
    expect(decided('Something else. -3', []).decision).toBe('free')
  })

  it('takes a decoy that is likelier for what it is, and asks if that is close', () => {
    const decoy = ["don't turn on switch one -4.1", 'turn on switch one -7.2']
    expect(decided('Dont turn on switch one. -4', decoy)).toMatchObject({
      decision: 'sentence',
      text: "don't turn on switch one",
    })
    expect(
      decided("Don't switch one. -4", ["don't turn on switch one -4.1", 'turn on switch one -5']),
    ).toMatchObject({
      decision: 'ask',
      text: 'turn on switch one',
    })
  })

  it('does not take a half-heard question for a command', () => {
    const heard = decided('His lich went on. -3', ['the switch one on -10.1'])
    expect(heard).toMatchObject({ decision: 'ask', text: 'the switch one on' })
    expect(decided('Switch one on. -3', ['switch one on -3']).decision).toBe('exact')
  })

  it('takes what can only be written as it was heard', () => {
    const heard = decided('Search for pizza. -1', ['turn on switch one -12'])
    expect(heard).toMatchObject({ decision: 'exact', text: 'Search for pizza.' })
  })

  it('looks up a question that no sentence has only if it was heard well and none is near', () => {
    const far = ['turn on switch one -22']
    expect(decided('What is the wifi password? -0.6', far).decision).toBe('exact')
    expect(decided('What is the Norcoat? -2.6', far).decision).toBe('ask')
    expect(decided('What is the Norcoat? -2.6', []).decision).toBe('ask')
    expect(decided('What is the dime again? -0.6', ['what is the time -9'])).toMatchObject({
      decision: 'ask',
      text: 'what is the time',
    })
    expect(decided('What is the dime? -2', ['what is the time -3'])).toMatchObject({
      decision: 'sentence',
      text: 'what is the time',
    })
  })

  it('asks about a calculation whose numbers were heard otherwise, or not at all', () => {
    const sum = 'what is eighteen plus five'
    expect(
      decided('What is 80 plus five? -2', [`${sum} -2.3`, 'what is eighty plus five -2.4']).decision,
    ).toBe('ask')
    expect(decided('What it 80 plus five? -4', [`${sum} -4`])).toMatchObject({ decision: 'ask', text: sum })
    expect(decided("What is Ein's last time? -4.5", [`${sum} -12`]).decision).not.toBe('sentence')
    expect(decided('What is eighteen plus five? -1', [`${sum} -1`]).decision).toBe('exact')
  })

  it('asks about the one of two likely sentences that sounds like what was heard', () => {
    const heard = decided('What is A T plus five? -4', [
      'what is eighteen plus five -6',
      'what is eighty plus five -6.2',
    ])
    expect(heard).toMatchObject({ decision: 'ask', text: 'what is eighty plus five' })
  })

  it('asks if a first syllable or word that is soon missed makes the difference', () => {
    const sounds = ['mute the sound -3', 'unmute the sound -5.4']
    expect(decided('The mute was sound. -2.5', sounds).decision).toBe('ask')
    const lamps = ['did you turn on the lamp -3', 'could you turn on the lamp -4.3']
    expect(decided('The you turn on the lamb. -3', lamps).decision).toBe('ask')
  })

  it('asks if a no was heard, unless the command is likelier', () => {
    const refused = (free: string) => decided(free, ['turn on switch one -5'], [], true).decision
    expect(refused("Don't on switch one. -4")).toBe('ask')
    expect(refused("Don't on switch one. -6")).toBe('sentence')
  })

  it('asks if two devices have one sound', () => {
    const sentences = ['turn on switch one -0.6']
    expect(decided('Turn on switch one. -0.6', sentences, ['turn on switch won']).decision).toBe('ask')
    expect(decided('Turn on slitch one. -0.6', sentences, ['turn on switch won']).decision).toBe('ask')
    expect(decided('Turn on switch one. -0.6', sentences, ['turn on switch wan']).decision).toBe('exact')
  })

  it('answers a question although a command is nearly as likely, or likelier by a hair', () => {
    expect(decided('What dime is it? -2', ['what time is it -3', 'turn on switch one -3.1'])).toMatchObject({
      decision: 'sentence',
      text: 'what time is it',
    })
    expect(decided('His switch won on. -2', ['the switch one on -6', 'is switch one on -6.4'])).toMatchObject(
      {
        decision: 'sentence',
        text: 'is switch one on',
      },
    )
  })
})

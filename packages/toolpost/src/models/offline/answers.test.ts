import { describe, expect, it } from 'vitest'
import { household } from '../../../test/household.ts'
import { MORE_HOMES } from '../../../test/more-homes.ts'
import type { ConversationMessage } from '../ai-client.ts'

const { devices, scenes } = MORE_HOMES['family house']
const home = household(devices, { scenes })

async function answerTo(...turns: string[]): Promise<string> {
  let messages: ConversationMessage[] = []
  let text = ''
  home.reset()
  for (const turn of turns) {
    const answer = await home.client.ask([...messages, { role: 'user', content: turn }])
    messages = [...answer.messages]
    text = answer.text
  }
  return text
}

describe('whether all of them are', () => {
  it.each([
    ['are all the doors locked', 'No, Garage Side Door is unlocked.'],
    ['are the doors locked?', 'No, Garage Side Door is unlocked.'],
    ['did i lock up', 'No, Garage Side Door is unlocked.'],
    ['is everything locked', 'No, Garage Side Door is unlocked.'],
    ['are the blinds closed', "No, Bay Window Blind and Anna's Blind are open."],
    ['are the lights off in the living room', 'No, Ceiling Spots is on.'],
    ['are the lights off', 'No, 9 of 16 lights are on.'],
    ['are all the lights on', 'No, 7 of 16 lights are off.'],
  ])('%s: it is no if one of them is not', async (said, answer) => expect(await answerTo(said)).toBe(answer))

  it.each([
    ['is any door locked', 'Yes, Front Door is locked.'],
    ['are any doors unlocked', 'Yes, Garage Side Door is unlocked.'],
    ['did i leave the kitchen lights on', 'Yes, Hob Light and Island Pendants are on.'],
    ['are the living room lights on', 'Yes, Ceiling Spots is on.'],
  ])('%s: it is yes if one of them is', async (said, answer) => expect(await answerTo(said)).toBe(answer))

  it('is not answered with a yes as long as it is not known of one of them', async () => {
    const unread = household([
      { name: 'Front Door', kind: 'lock', value: true },
      { name: 'Back Door', kind: 'lock', value: true, isUnread: true },
    ])
    const { text } = await unread.client.ask('are the doors locked')
    expect(text).toBe('I do not know whether Back Door is locked.')
  })
})

describe('what is asked back', () => {
  it.each([
    ['samsung off', 'Did you mean "Samsung TV off"?'],
    ['desk light 40', 'Did you mean "Desk Light 40 percent"?'],
    ['the hot tub', 'What should I do with Hot Tub?'],
    ['turn on the samsung tv at my parents house', 'Did you mean "turn on the samsung tv at my house"?'],
    ['that film was awful, turn the tv off', 'Did you mean "turn the tv off"?'],
    ['that tv is so loud, i hate it, turn it off', 'Did you mean "turn Samsung TV off"?'],
  ])('%s', async (said, answer) => expect(await answerTo(said)).toBe(answer))

  it('is which way, if somebody wants more of what was set to a level', async () => {
    expect(await answerTo('dim the desk light to 30', 'a bit more')).toBe('Higher or lower?')
    expect(await answerTo('set the living room thermostat to 21', 'more')).toBe('Warmer or cooler?')
  })
})

describe('what cannot be done', () => {
  it.each([
    ['make the corner lamp blue', 'I cannot change colours: there is no tool for that here.'],
    ['is the desk light locked', 'Desk Light cannot be locked.'],
    ['turn off the hall light around noon', /^I can only do things right away/],
  ])('%s', async (said, answer) => expect(await answerTo(said)).toMatch(answer))

  it('is to undo what was done to several, or by degrees', async () => {
    const sorry = 'I cannot undo that; say how you want it instead.'
    expect(await answerTo('turn off the kitchen lights', 'undo that')).toBe(sorry)
    expect(await answerTo('dim the desk light to 30', 'undo')).toBe(sorry)
  })
})

describe('what is answered', () => {
  it.each([
    ['how many lights are on in the kitchen', '2 of 2 lights are on: Hob Light and Island Pendants.'],
    ['how many doors are locked', '1 of 2 doors is locked: Front Door.'],
    ['what scenes are there', 'There are 3 scenes: Film Night, Bedtime and Everyone Out.'],
    [
      'what is the volume and how warm is it in the living room',
      'The volume is 40 percent and it is 20.5 °C.',
    ],
    ['set the volume to 30 and unmute', 'The volume is 30 percent.'],
    ['set the desk light to 150 percent', 'That has to be between 0 and 100 percent, so I did nothing.'],
    ['set the volume to 200', 'That has to be between 0 and 100 percent, so I did nothing.'],
    ['turn on the desk light in the garage', 'There is no such device there.'],
    ['turn the bedroom trv up 22 degrees', 'Did you mean "set Bedroom TRV to 22 degrees"?'],
    ['the hall light should be off', 'Did you mean "Hall Light off"?'],
    ['dnot turn on the hall light', 'Okay, I will leave it as it is.'],
  ])('%s: %s', async (said, answer) => expect(await answerTo(said)).toBe(answer))

  it('names what can be said about the device that was named', async () => {
    expect(await answerTo('hall light whatever you like')).toBe(
      'I did not understand that. You can say "turn Hall Light on" or "is Hall Light on".',
    )
    expect(await answerTo('i really cannot stand the hall light')).toBe(
      'I did not understand that, so I did nothing.',
    )
  })

  it('speaks of a time or a condition only if there is one', async () => {
    const sorry = 'I can only do things right away, not later or under a condition, so I did nothing.'
    for (const said of ['turn off the hall light by ten', 'turn off the hall light in a bit'])
      expect(await answerTo(said)).toBe(sorry)
    for (const said of ['turn off the hall light by ten percent', 'when did you turn off the hall light'])
      expect(await answerTo(said)).not.toBe(sorry)
  })

  it('spells names right when it asks', async () => {
    expect(await answerTo('dim the crner lamp to 30 plzz percent')).toBe(
      'Did you mean "dim the corner lamp to 30 percent"?',
    )
  })
})

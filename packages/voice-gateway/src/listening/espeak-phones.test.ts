import { describe, expect, it } from 'vitest'
import { hasPart } from '../../test/support/system-parts.ts'
import { arpabet, espeakPhones } from './espeak-phones.ts'
import { comparePhones } from './phone-distance.ts'
import { Pronunciation } from './pronunciation.ts'

describe('how espeak-ng says words', () => {
  it.each([
    ['l_ˈæ_m_p_ə', 'L AE M P AH'],
    ['k_ˈuː_tʃ', 'K UW CH'],
    ['θ_ˈɜː_m_ə_s_t_ˌæ_t', 'TH ER M AH S T AE T'],
    ['ˈɪ_ɡ_d_ɹ_æ_s_əl', 'IH G D R AE S AH L'],
    ['?_b', 'B'],
    ['', ''],
  ])('%s is %s', (ipa, phones) => expect(arpabet(ipa).join(' ')).toBe(phones))

  it.skipIf(!hasPart('espeak-ng'))('is near to what the dictionary says', async () => {
    const words = ['kitchen', 'thermostat', 'switch', 'television', 'hallway', 'radiator', 'curtain']
    const [dictionary, said] = [new Pronunciation(), await espeakPhones(words)]
    expect([...said.keys()]).toEqual(words)
    for (const word of words)
      expect(comparePhones(dictionary.phonesOf(word), said.get(word) ?? []).distance).toBeLessThan(0.3)
  })

  it.skipIf(!hasPart('espeak-ng'))('is used for words that the dictionary does not have', async () => {
    const pronunciation = new Pronunciation()
    const byLetters = new Pronunciation().phonesOf('yggdrasil')
    await pronunciation.learn(['yggdrasil', 'kitchen', 'Лампа'])
    expect(pronunciation.phonesOf('yggdrasil').join(' ')).toBe('IH G D R AE S AH L')
    expect(pronunciation.phonesOf('yggdrasil')).not.toEqual(byLetters)
  })
})

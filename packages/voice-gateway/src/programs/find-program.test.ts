import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { programs } from '../../test/support/programs.ts'
import { findProgram } from './find-program.ts'

describe('findProgram', () => {
  it('finds a name along the PATH, and a path as it is given', () => {
    const { folder, environment } = programs({ sox: '' })
    expect(findProgram('sox', environment)).toBe(join(folder, 'sox'))
    expect(findProgram(join(folder, 'sox'), {})).toBe(join(folder, 'sox'))
    expect(findProgram('rec', environment)).toBeUndefined()
    expect(findProgram('sox', {})).toBeUndefined()
  })

  it('finds a program of Windows by its name without the ending', () => {
    const { folder, environment } = programs({ 'espeak-ng.EXE': '' })
    const windows = { ...environment, PATHEXT: '.COM;.EXE' }
    expect(findProgram('espeak-ng', windows, 'win32')).toBe(join(folder, 'espeak-ng.EXE'))
    expect(findProgram('espeak-ng', environment, 'win32')).toBe(join(folder, 'espeak-ng.EXE'))
    expect(findProgram('espeak-ng', environment, 'linux')).toBeUndefined()
    expect(findProgram('C:\\no\\such\\program', windows, 'win32')).toBeUndefined()
  })
})

import { dictionary } from '@zxcvbn-ts/language-common'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCommonPassword } from '../../../src/domain/sign-in/common-passwords.ts'
import { findPasswordPieces } from '../../../src/domain/sign-in/password-pieces.ts'
import { findPasswordIssues } from '../../../src/domain/sign-in/passwords.ts'
import { scaled } from '../../support/scale.ts'

const chooser = { email: 'grace.hopper@acme.example', words: ['Grace', 'Hopper', 'Acme'] }
const listed: string[] = dictionary['passwords-common']
const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
const issuesOf = (password: string, hasSecondFactor = false) =>
  findPasswordIssues('password', password, { ...chooser, hasSecondFactor })

describe('a new password', () => {
  it('is rejected if composed of common pieces, which the error names', () => {
    expect(findPasswordPieces('password123', [])).toEqual(['password123'])
    expect(findPasswordPieces('Password123!', [])).toEqual(['Password123'])
    expect(issuesOf('AcmeAcme2026!!!!')).toMatchObject([{ rule: 'common', pieces: ['Acme', '2026', '!!!!'] }])
    expect(issuesOf('Gr4ceH0pper1qaz2wsx')).toMatchObject([{ rule: 'common', pieces: ['Gr4ce', 'H0pper', '1qaz2wsx'] }])
    expect(issuesOf('qwertyuiopasdfghjkl')).toMatchObject([{ rule: 'common' }])
  })

  it('has at least 15 characters, or 10 with a second factor, and at most 200, counted after normalization', () => {
    const long = 'unrelated words, of which there are many '.repeat(6)
    expect(issuesOf('vK3#pQ9!xZ2$wL')).toMatchObject([{ problem: 'minLength', limit: 15 }])
    expect(issuesOf('vK3#pQ9!xZ2$wLm')).toEqual([])
    expect(issuesOf('vK3#pQ9!x', true)).toMatchObject([{ problem: 'minLength', limit: 10 }])
    expect(issuesOf('vK3#pQ9!xZ', true)).toEqual([])
    expect(issuesOf('e\u0301'.repeat(14))).toMatchObject([{ problem: 'minLength' }])
    expect(issuesOf(long)).toMatchObject([{ rule: 'maxLength', limit: 200 }])
  })

  it('is rejected as any usual variant of the most common passwords', () => {
    const variants = listed
      .slice(0, scaled(500, 5_000))
      .flatMap((word) => [word, word + word, capitalized(word), `${capitalized(word)}2026`, `${word}123`])
    expect(variants.filter((variant) => findPasswordPieces(variant, []) === null)).toEqual([])
  })

  it('is accepted if made by a password manager or by dice', () => {
    const signs = '!#$%&()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~'
    const made = fc.array(fc.constantFrom(...signs), { minLength: 15, maxLength: 15 }).map((all) => all.join(''))
    const uniform = { numRuns: scaled(1_000, 10_000), seed: 20_261_125 }
    const dice = fc.array(fc.constantFrom(...dictionary['diceware-common']), { minLength: 4, maxLength: 5 })
    fc.assert(
      fc.property(fc.noBias(made), (password) => findPasswordPieces(password, chooser.words) === null),
      uniform,
    )
    const differs = (words: string[]) => new Set(words).size === words.length
    const phrases = fc.noBias(dice.filter(differs).map((words) => words.join(' ')))
    fc.assert(
      fc.property(phrases, (phrase) => findPasswordPieces(phrase, chooser.words) === null),
      { numRuns: scaled(200, 2_000), seed: 1 },
    )
  })
})

it('finds each password of the list of common passwords, and no others', () => {
  expect(listed.filter((word) => !isCommonPassword(word.toLowerCase()))).toEqual([])
  for (const word of listed.slice(0, 5_000)) expect(isCommonPassword(`${word}\u{1f511}`)).toBe(false)
  for (const none of ['', ' ', '\n', 'zzzzzzzzzzzzzzzzz', '\u{10ffff}']) expect(isCommonPassword(none)).toBe(false)
})

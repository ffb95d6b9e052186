import { describe, expect, it } from 'vitest'
import { numberRules } from '../../../src/kinds/number/rules.ts'

type Answer =
  | { value: string; share: number; tolerance?: { by: string; in: string } }
  | { from: string; to: string; share: number }

const got = (typed: string, ...answers: Answer[]) => {
  const score = numberRules.score({}, { answers }, typed)
  return score.state === 'scored' ? score.got : score.state
}

describe('a number question', () => {
  it.each([
    ['3.1', [{ value: '3.10', share: 100 }], 100],
    ['3.1000000000000000000000000000000000001', [{ value: '3.1', share: 100 }], 0],
    ['0.3', [{ value: '0.1', tolerance: { by: '0.2', in: 'absolute' }, share: 100 }], 100],
    ['0.31', [{ value: '0.1', tolerance: { by: '0.2', in: 'absolute' }, share: 100 }], 0],
    ['-95', [{ value: '-100', tolerance: { by: '5', in: 'percent' }, share: 100 }], 100],
    ['-94.99', [{ value: '-100', tolerance: { by: '5', in: 'percent' }, share: 100 }], 0],
    ['10', [{ from: '1', to: '10', share: 100 }], 100],
    ['10.01', [{ from: '1', to: '10', share: 100 }], 0],
    [
      '9',
      [
        { from: '1', to: '10', share: 50 },
        { value: '9', share: 100 },
      ],
      100,
    ],
    [
      '8',
      [
        { from: '1', to: '10', share: 50 },
        { value: '9', share: 100 },
      ],
      50,
    ],
    ['', [{ value: '0', share: 100 }], 0],
    ['about 5', [{ value: '5', share: 100 }], 'people'],
    // Sixteen or sixteen thousand. If it matters, a grader decides.
    ['16,000', [{ value: '16000', share: 100 }], 'people'],
    ['16,000', [{ value: '7', share: 100 }], 0],
    ['16,000', [{ from: '0', to: '20000', share: 100 }], 100],
  ] as [string, Answer[], number | string][])('scores %j with the key %j as %j', (typed, answers, share) =>
    expect(got(typed, ...answers)).toBe(share),
  )

  it.each([
    [{ answers: [{ value: '5', share: 50 }] }, 'key.answers'],
    [{ answers: [{ from: '5', to: '4', share: 100 }] }, 'key.answers.0.to'],
    [{ answers: [{ value: '0.0', tolerance: { by: '5', in: 'percent' }, share: 100 }] }, 'key.answers.0.tolerance'],
    [{ answers: [{ value: '5', tolerance: { by: '-1', in: 'absolute' }, share: 100 }] }, 'key.answers.0.tolerance.by'],
    [{ answers: [{ value: '1e3', share: 100 }] }, 'key.answers.0'],
    [{ answers: [] }, 'key.answers'],
    [{}, 'key.answers'],
    [null, 'key'],
  ])('rejects the key %j for %s', (key, field) => {
    expect(numberRules.faults('number', {}, key).map((fault) => fault.field)).toEqual([field])
  })

  it('describes an answer with its unit', () => expect(numberRules.describe({ unit: 'kg' }, ' 5,0 ')).toBe('5,0 kg'))
})

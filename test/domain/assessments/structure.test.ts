import { describe, expect, it } from 'vitest'
import { inStructure, type PlacedQuestion, placeQuestion } from '../../../src/domain/assessments/structure.ts'

/** Questions such as `ax`: x in section a; `b1p`: 1 in section b and pool p. */
const parse = (text: string): PlacedQuestion[] =>
  text.split(' ').map(([sectionId = '', id = '', pool]) => ({ id, sectionId, poolId: pool ?? null, points: 1 }))
const print = (questions: PlacedQuestion[]): string =>
  questions.map(({ id, sectionId, poolId }) => `${sectionId}${id}${poolId ?? ''}`).join(' ')
const move = (text: string, id: string, place: number) => {
  const questions = parse(text)
  const moved = placeQuestion(questions, questions.find((question) => question.id === id)!, place)
  return print(inStructure(moved, [{ id: 'a' }, { id: 'b' }]))
}

describe('the order of questions', () => {
  it('keeps the questions of a section and of a pool together', () => {
    expect(print(inStructure(parse('b1 a2p a3 b4 a5p'), [{ id: 'a' }, { id: 'b' }]))).toBe('a2p a5p a3 b1 b4')
  })

  it('has a moved question in the section where it lands', () => {
    expect(move('a1 a2 b3 b4', '1', 4)).toBe('a2 b3 b4 b1')
    expect(move('a1 a2 b3 b4', '4', 2)).toBe('a1 a4 a2 b3')
  })

  it('keeps a question at the border of its section', () => {
    expect(move('a1 a2 b3 b4', '1', 2)).toBe('a2 a1 b3 b4')
    expect(move('a1 a2 b3 b4', '4', 3)).toBe('a1 a2 b4 b3')
  })

  it('moves a question past a whole pool', () => {
    expect(move('a1 a2p a3p a4', '4', 3)).toBe('a1 a4 a2p a3p')
    expect(move('a1 a2p a3p a4', '1', 2)).toBe('a2p a3p a1 a4')
  })

  it('takes a question out of its pool with its section', () => {
    expect(move('a1p a2p b3 b4', '1', 4)).toBe('a2p b3 b4 b1')
  })
})

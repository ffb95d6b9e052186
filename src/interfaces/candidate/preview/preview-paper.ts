import { drawQuestions } from '../../../domain/assessments/draw-questions.ts'
import { readStructure } from '../../../domain/assessments/structure.ts'
import type { Context } from '../../../domain/context.ts'
import type { CandidateQuestion } from '../../../domain/invites/candidate-moves.ts'
import type { Random } from '../../../domain/ports/question-kind.ts'
import { readDrawable } from '../../../domain/submissions/taking/draw-paper.ts'
import type { SectionProgress } from '../../../domain/submissions/taking/read-progress.ts'
import type { SectionRange } from './step.ts'

type PreviewSection = Pick<SectionProgress, 'number' | 'of' | 'name' | 'intro' | 'timeLimit' | 'isFree'> & SectionRange

/** Paper of a preview. In the author's order it has no sections. */
export type PreviewPaper = { questions: (CandidateQuestion & { shown: string[] })[]; sections: PreviewSection[] }

/** Draws a paper, which depends only on the seed. @param seed null for the author's order. */
export async function drawPreview(
  ctx: Context,
  assessmentId: string,
  candidateQuestions: CandidateQuestion[],
  seed: number | null,
): Promise<PreviewPaper> {
  if (seed === null) return { questions: candidateQuestions.map((question) => ({ ...question, shown: [] })), sections: [] }
  const random = seededRandom(seed)
  const drawnQuestions = drawQuestions(await readDrawable(ctx, assessmentId), random)
  const byId = new Map(candidateQuestions.map((question) => [question.id, question]))
  const questions = drawnQuestions.flatMap(({ id }) => {
    const question = byId.get(id)
    return question ? [{ ...question, shown: arrange(ctx, question, random) }] : []
  })
  const { sections } = await readStructure(ctx, assessmentId)
  const drawnSections = sections.filter(({ id }) => questions.some(({ sectionId }) => sectionId === id))
  return {
    questions,
    sections: drawnSections.map(({ id, name, intro, timeLimit, navigation }, i) => ({
      ...{ number: i + 1, of: drawnSections.length, name, intro, timeLimit, isFree: navigation === 'free' },
      first: questions.findIndex(({ sectionId }) => sectionId === id) + 1,
      last: questions.findLastIndex(({ sectionId }) => sectionId === id) + 1,
    })),
  }
}

const arrange = ({ deps }: Context, { version }: CandidateQuestion, random: Random): string[] =>
  (version && deps.kinds.get(version.responseType)?.arrange(version.spec, random)) ?? []

/** Mulberry32: good enough for previews. */
function seededRandom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

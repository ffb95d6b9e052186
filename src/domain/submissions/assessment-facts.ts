import { assetIdIn } from '../assets/references.ts'
import type { Context } from '../context.ts'
import type { QuestionKinds } from '../ports/question-kind.ts'

/** Facts about an assessment's questions that candidates read before the start. */
export type AssessmentFacts = {
  questions: number
  /** Questions with a time limit, and the sum of their limits and preparation in seconds without extra time. */
  timed: number
  timedSeconds: number
  /** Number of questions with a preparation time. */
  prepared: number
  sections: number
  /** Sections with a time limit, and the sum of their limits in seconds without extra time. */
  timedSections: number
  sectionSeconds: number
  /** True if candidates go back and forth in some section. */
  goesBack: boolean
  playsMedia: boolean
  takesRecordings: boolean
}

type FactsOfQuestion = {
  responseType: string
  timeLimit: number
  preparationTime: number
  audioUrl: string
  videoUrl: string
  section: FactsOfSection | null
  pool: { id: string; draw: number } | null
}
type FactsOfSection = { id: string; timeLimit: number; navigation: string }

function toAssessmentFacts(kinds: Pick<QuestionKinds, 'answering'>, listed: readonly FactsOfQuestion[]): AssessmentFacts {
  const questions = longestDrawn(listed)
  const sections = [...new Map(questions.flatMap(({ section }) => (section ? [[section.id, section]] : []))).values()]
  return {
    questions: questions.length,
    timed: questions.filter(({ timeLimit }) => timeLimit > 0).length,
    timedSeconds: questions.reduce((sum, question) => sum + secondsOf(question), 0),
    prepared: questions.filter(({ preparationTime }) => preparationTime > 0).length,
    playsMedia: questions.some(({ audioUrl, videoUrl }) => isMedium(audioUrl) || isMedium(videoUrl)),
    takesRecordings: questions.some(({ responseType }) => kinds.answering(responseType).records.length > 0),
    sections: sections.length,
    timedSections: sections.filter(({ timeLimit }) => timeLimit > 0).length,
    sectionSeconds: sections.reduce((sum, { timeLimit }) => sum + timeLimit, 0),
    goesBack: sections.some(({ navigation }) => navigation === 'free'),
  }
}

const secondsOf = ({ timeLimit, preparationTime }: FactsOfQuestion): number => (timeLimit > 0 ? preparationTime + timeLimit : 0)

/** As many questions of each pool as a candidate gets: the ones with the longest times, because the draw is not known yet. */
function longestDrawn(questions: readonly FactsOfQuestion[]): FactsOfQuestion[] {
  const pools = Map.groupBy(questions, ({ pool }) => pool?.id)
  return [...pools.values()].flatMap((members) => {
    const draw = members[0]!.pool?.draw ?? members.length
    return members.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, draw)
  })
}

const isMedium = (address: string): boolean => /^https?:\/\//i.test(address) || assetIdIn(address) !== null

export async function findAssessmentFacts(
  { db, deps, organization }: Context,
  { assessmentId }: { assessmentId: string },
): Promise<AssessmentFacts> {
  const select = {
    ...{ responseType: true, timeLimit: true, preparationTime: true, audioUrl: true, videoUrl: true },
    section: { select: { id: true, timeLimit: true, navigation: true } },
    pool: { select: { id: true, draw: true } },
  }
  return toAssessmentFacts(
    deps.kinds,
    await db.question.findMany({ where: { organizationId: organization.id, assessmentId }, select }),
  )
}

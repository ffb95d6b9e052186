import type { CandidateProgress, OpenQuestion, SectionProgress } from '../../../domain/submissions/taking/read-progress.ts'
import type { PreviewPaper } from './preview-paper.ts'
import type { TakingStep } from './step.ts'
import type { TypedDefinition, TypedQuestion } from './try-answer.ts'

type PreviewFacts = {
  paper: PreviewPaper
  typed: TypedQuestion | undefined
  now: Date
  value: unknown
  deadlineAt: Date | null
  playsLeft: number
  attemptsLeft: number
}

/** Progress of a candidate at a step of the preview. */
export function progressAt(step: TakingStep, facts: PreviewFacts): CandidateProgress {
  const { paper, typed, now, value, deadlineAt, playsLeft, attemptsLeft } = facts
  const questionCount = Math.max(paper.questions.length, typed ? step.number : 0)
  const isOver = deadlineAt !== null && deadlineAt <= now
  const section = isOver ? null : sectionAt(step, paper.sections)
  const whole = { of: questionCount, isOver, wasCutByClock: isOver, unanswered: [], section }
  const next = (number: number): CandidateProgress => ({
    ...whole,
    open: undefined,
    next: number > questionCount || isOver ? undefined : paperQuestion(step, facts, number, CLOSED),
  })
  if (step.place === 'overview' && !isOver) return { ...whole, open: undefined, next: undefined }
  if (step.openedAt === null || step.number > questionCount || isOver) return next(step.number)
  const times = timesOf({ ...step, openedAt: step.openedAt }, facts)
  if (times.closesAt && times.closesAt <= now) return next(step.number + 1)
  return {
    ...whole,
    open: {
      ...paperQuestion(step, facts, step.number, times),
      playsLeft,
      attemptsLeft,
      text: value === null ? null : { text: '', revision: 0, value: value as NonNullable<OpenQuestion['text']>['value'] },
      version: typed ? versionOf(typed.defined) : (paper.questions[step.number - 1]?.version ?? null),
      attempts: [],
      answers: [],
      interrupted: null,
      mayStartOver: true,
      hadInterruption: false,
    },
    next: undefined,
  }
}

type Times = Pick<OpenQuestion, 'openedAt' | 'answersAt' | 'closesAt'>
const CLOSED: Times = { openedAt: null, answersAt: null, closesAt: null }

function timesOf(step: TakingStep & { openedAt: number }, { paper, typed, deadlineAt }: PreviewFacts): Times {
  const { timeLimit, preparationTime } = typed ?? paper.questions[step.number - 1]!
  const answersAt = step.answersAt ?? step.openedAt + preparationTime * 1_000
  const ends = [...(timeLimit > 0 ? [answersAt + timeLimit * 1_000] : []), ...(deadlineAt ? [deadlineAt.getTime()] : [])]
  return {
    openedAt: new Date(step.openedAt),
    answersAt: preparationTime > 0 ? new Date(answersAt) : null,
    closesAt: ends.length > 0 ? new Date(Math.min(...ends)) : null,
  }
}

function paperQuestion(step: TakingStep, { paper, typed }: PreviewFacts, number: number, times: Times) {
  const stored = paper.questions[number - 1]
  const question = (typed && number === step.number ? { ...typed, id: '' } : stored)!
  const { inputType, responseType, script, scriptFormat, audioUrl, videoUrl } = question
  const { points, timeLimit, preparationTime, simultaneous } = question
  return {
    organizationId: '',
    submissionId: '',
    questionId: question.id,
    number,
    ...{ inputType, responseType, script, scriptFormat, audioUrl, videoUrl },
    ...{ points, timeLimit, preparationTime, simultaneous },
    sourceLanguage: question.sourceLanguage || null,
    targetLanguage: question.targetLanguage || null,
    plays: 0,
    playUsedAt: null,
    ...times,
    closedAt: null,
    versionId: stored?.versionId ?? null,
    shown: stored?.shown ?? [],
    assetIds: [],
    rubric: null,
    sectionNumber: null,
    isMarked: false,
  }
}

/** Section of a step. Its time limit is shown, but does not run. */
function sectionAt({ number, place, startedAt }: TakingStep, sections: PreviewPaper['sections']): SectionProgress | null {
  const section = sections.find(({ first, last }) => first <= number && number <= last)
  if (!section) return null
  const { first, last, ...sectionFacts } = section
  const isOpen = place !== 'outside' || number > first
  return {
    ...sectionFacts,
    openedAt: isOpen ? new Date(startedAt) : null,
    closesAt: null,
    questions: Array.from({ length: last - first + 1 }, (_, i) => ({ number: first + i, isAnswered: false, isMarked: false })),
  }
}

type Json = NonNullable<PreviewPaper['questions'][number]['version']>['spec']
const versionOf = (defined: TypedDefinition | null) =>
  defined && { responseType: defined.definition.responseType, spec: defined.definition.spec as Json }

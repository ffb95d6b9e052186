import { bestPointsOf, type Criterion, type Rubric } from '../../../domain/assessments/rubric.ts'

/** Lines of a rubric's text: the criterion, and its levels. */
export const linesOfRubric = (rubric: Rubric): string[] =>
  rubric.map((criterion) => `${criterion.name}: ${criterion.levels.map(({ text, points }) => `${text} (${points})`).join('; ')}`)

/** The chosen level with its points. @param level from 1; 0: none chosen. */
export function formatLevel(criterion: Criterion, level: number): string {
  const chosen = criterion.levels[level - 1]
  return chosen ? `${chosen.text || `Level ${level}`}, ${chosen.points} of ${bestPointsOf(criterion)}` : 'no level'
}

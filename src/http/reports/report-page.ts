import type { PrintedQuestion } from '../../domain/ports/printed-report.ts'
import type { ReportedQuestion, ResultReport } from '../../domain/submissions/grading/result-report.ts'
import { type Html, html } from '../../html/html.ts'
import { palette, secondaryColorOf, type Theme } from '../../html/palette.ts'
import { directionOf } from '../../locales/texts.ts'
import { questionText, userText } from '../pages/candidate-view.ts'
import { picturesAsText } from '../pages/pictures.ts'
import { printReport } from './print-report.ts'

/** A self-contained HTML page of a report. */
export function reportPage(report: ResultReport): Html {
  const { language, title, author, facts, message, questions, closing, labels } = printReport(report)
  const isRightToLeft = directionOf(language) === 'rtl'
  // Lines with the report's own texts begin with text by users, from which browsers would guess the wrong direction.
  const direction = isRightToLeft ? 'rtl' : 'auto'
  return html`<!doctype html>
${isRightToLeft ? html`<html lang="${language}" dir="rtl">` : html`<html lang="${language}">`}
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="author" content="${author}">
<title>${title}</title>
${style}
</head>
<body>
<main>
<h1 dir="${direction}">${title}</h1>
<dl>
${facts.map(({ label, text }) => html`<dt>${label}</dt><dd><bdi>${text}</bdi></dd>\n`)}</dl>
${message && html`<h2>${labels.message}</h2>\n${userText(message)}`}
${questions.length > 0 && html`<h2>${labels.questions}</h2>\n${questions.map((question, i) => section(question, report.questions[i]!, { comment: labels.comment, direction }))}`}
<footer><p dir="${direction}">${closing}</p></footer>
</main>
</body>
</html>
`
}

const section = (
  { heading, points, rubric, script, comment, notes }: PrintedQuestion,
  question: ReportedQuestion,
  page: { comment: string; direction: string },
): Html => html`<section>
<h3>${heading}</h3>
${script && questionText(question, question.language, picturesAsText)}
<p class="points">${points}</p>
${lines(rubric, page.direction)}
${(comment || notes.length > 0) && html`<h4>${page.comment}</h4>\n${comment && userText(comment)}${lines(notes, page.direction)}`}
</section>
`

const lines = (texts: string[], direction: string): Html | false =>
  texts.length > 0 && html`<ul>${texts.map((text) => html`<li dir="${direction}">${text}</li>`)}</ul>`

const colors = (theme: Theme): string =>
  `--text:${theme['base-content']};--quiet:${secondaryColorOf(theme)};--page:${theme['base-100']};--line:${theme['base-300']}`

const styles = `<style>
:root{color-scheme:light dark;${colors(palette.light)}}
@media(prefers-color-scheme:dark){:root{${colors(palette.dark)}}}
body{font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:var(--text);background:var(--page);margin:0;overflow-wrap:anywhere}
main{box-sizing:border-box;max-width:48rem;margin:0 auto;padding:1rem 1.25rem 3rem}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
h3{font-size:1rem;margin:0 0 .25rem}
h4{font-size:.9rem;margin:.5rem 0 0}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.25rem 1.25rem;margin:1rem 0}
dt,footer{color:var(--quiet)}
dd,p{margin:0}
section{padding:.75rem 0;border-top:1px solid var(--line);break-inside:avoid}
.script{white-space:pre-wrap}
.space-y-3>*+*,.space-y-1>*+*{margin-top:.5rem}
ul,ol{margin:0;padding-inline-start:1.5rem}
blockquote{margin:0;padding-inline-start:1rem;border-inline-start:3px solid var(--line)}
pre{margin:0;white-space:pre-wrap}
table{border-collapse:collapse}
th,td{border:1px solid var(--line);padding:.25rem .5rem;text-align:start}
.points{font-weight:600;margin-top:.5rem}
footer{margin-top:2rem;font-size:.85rem}
</style>`
/** A template without values, because html`` refuses values in a <style>. */
const style = html(Object.assign([styles], { raw: [styles] }))

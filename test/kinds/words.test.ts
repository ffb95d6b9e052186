import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { definedKinds, plainKinds } from '../../src/kinds/index.ts'

// Only a kind's own folder may depend on its name.

const SOURCE = path.join(import.meta.dirname, '../../src')
/** Files that may name kinds: examples in API documents, and the data of the demo. */
const EXAMPLES = [/^demo\//, /^interfaces\/v1\/[a-z-]+\.view\.ts$/]
/** Defaults of a new question may name a documented response type. */
const DEFAULT = "responseType: 'text'"

const words = new Set([...definedKinds, ...plainKinds].flatMap((kind) => [...kind.words]))
const quotedWord = new RegExp(`['"\`](?:${[...words].join('|')})['"\`]`)
/** True for names that also have other meanings in code, such as `text`, `number`, and `audio`. */
const isCommon = (word: string) => !word.includes('_')

/** The expression that contains the literal, including lists, objects, and conditions around it. */
function around(literal: ts.Node): string {
  let top = literal
  const isPart = ({ kind }: ts.Node) =>
    [
      ts.SyntaxKind.ArrayLiteralExpression,
      ts.SyntaxKind.ObjectLiteralExpression,
      ts.SyntaxKind.PropertyAssignment,
      ts.SyntaxKind.SpreadElement,
      ts.SyntaxKind.ParenthesizedExpression,
      ts.SyntaxKind.AsExpression,
      ts.SyntaxKind.CaseClause,
      ts.SyntaxKind.CaseBlock,
    ].includes(kind)
  while (isPart(top.parent)) top = top.parent
  // The called function precedes its arguments, including the whole query.
  if (ts.isCallExpression(top.parent)) return top.parent.arguments.map((argument) => argument.getText()).join(', ')
  const decides = ts.isBinaryExpression(top.parent) || ts.isSwitchStatement(top.parent) || ts.isVariableDeclaration(top.parent)
  return decides ? top.parent.getText() : top.getText()
}

function namedIn(file: string, source: string): string[] {
  const found: string[] = []
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && words.has(node.text)) {
      const said = around(node)
      const isOfQuestion = /\b(responseType|response_type|answering)\b/i.test(said) && !said.includes(DEFAULT)
      if (!isCommon(node.text) || isOfQuestion) found.push(`${file}: ${node.text} in ${said}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

it('names no kind in source code outside of its folder', async () => {
  const found: string[] = []
  for await (const file of glob('**/*.ts', { cwd: SOURCE })) {
    if (/^(generated|kinds)\//.test(file) || EXAMPLES.some((example) => example.test(file))) continue
    const source = await readFile(path.join(SOURCE, file), 'utf8')
    if (quotedWord.test(source)) found.push(...namedIn(file, source))
  }
  expect(found).toEqual([])
})

it('finds names of kinds in conditions only', () => {
  const deciding = [
    "const isRecorded = responseType === 'audio'",
    "const where = { responseType: { in: ['audio', 'video'] } }",
    "query.where('submissionQuestions.responseType', 'not in', ['audio'])",
    "switch (responseType) { case 'audio': break }",
    "const KINDS = ['short_text']",
  ]
  for (const source of deciding) expect(namedIn('a.ts', source), source).not.toEqual([])
  for (const source of ["make('video')", "const type = 'number'", "takes.kind === 'text'"])
    expect(namedIn('a.ts', source)).toEqual([])
})

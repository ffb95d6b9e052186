import { describe, expect, it } from 'vitest'
import { readFile } from '../../../src/kinds/file-formats/read-file.ts'
import { outcome } from '../../support/import-outcomes.ts'
import { packageOf } from '../../support/workbooks.ts'

// QTI 2.1 items, written from its specification.

type Declared = { cardinality?: string; baseType?: string; correct?: string[]; mapping?: string }

const declare = ({ cardinality = 'single', baseType = 'identifier', correct, mapping = '' }: Declared) =>
  `<responseDeclaration identifier="RESPONSE" cardinality="${cardinality}" baseType="${baseType}">${correct ? `<correctResponse>${correct.map((value) => `<value>${value}</value>`).join('')}</correctResponse>` : ''}${mapping}</responseDeclaration>`
const TEMPLATE = 'http://www.imsglobal.org/question/qti_v2p1/rptemplates'
const MATCH = `<responseProcessing template="${TEMPLATE}/match_correct"/>`
const MAP = `<responseProcessing template="${TEMPLATE}/map_response.xml"/>`
const item = (declared: Declared, body: string, processing = MATCH) =>
  `<?xml version="1.0" encoding="UTF-8"?><assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" identifier="i1" title="Item" adaptive="false">${declare(declared)}<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float"/><itemBody>${body}</itemBody>${processing}</assessmentItem>`
const choices = (attributes: string, options = ['A', 'B', 'C']) =>
  `<choiceInteraction responseIdentifier="RESPONSE" ${attributes}><prompt>Which?</prompt>${options.map((id) => `<simpleChoice identifier="${id}">text ${id}</simpleChoice>`).join('')}</choiceInteraction>`
const mapping = (entries: Record<string, number>, attributes = '') =>
  `<mapping ${attributes}>${Object.entries(entries)
    .map(([key, value]) => `<mapEntry mapKey="${key}" mappedValue="${value}"/>`)
    .join('')}</mapping>`
const ENTRY = '<p>The capital is <textEntryInteraction responseIdentifier="RESPONSE"/>.</p>'
const pairs = `<matchInteraction responseIdentifier="RESPONSE" shuffle="true"><prompt>Match</prompt><simpleMatchSet><simpleAssociableChoice identifier="x" matchMax="1">X</simpleAssociableChoice><simpleAssociableChoice identifier="y" matchMax="1">Y</simpleAssociableChoice></simpleMatchSet><simpleMatchSet><simpleAssociableChoice identifier="p" matchMax="1">P</simpleAssociableChoice><simpleAssociableChoice identifier="q" matchMax="1">Q</simpleAssociableChoice><simpleAssociableChoice identifier="r" matchMax="1">R</simpleAssociableChoice></simpleMatchSet></matchInteraction>`
const condition = (test: string, score: number, otherwise = 0) =>
  `<responseProcessing><responseCondition><responseIf>${test}<setOutcomeValue identifier="SCORE"><baseValue baseType="float">${score}</baseValue></setOutcomeValue></responseIf><responseElse><setOutcomeValue identifier="SCORE"><baseValue baseType="float">${otherwise}</baseValue></setOutcomeValue></responseElse></responseCondition></responseProcessing>`
const RESPONSE = '<variable identifier="RESPONSE"/><correct identifier="RESPONSE"/>'
const PEOPLE = 'Its scoring has no counterpart: candidates write the answer, and people grade it.'
const PARTS = 'Each right part gets its share of the points.'

describe('QTI 2.1', () => {
  it.each<[string, string, string[]]>([
    ['one choice', item({ correct: ['B'] }, choices('shuffle="true" maxChoices="1"')), ['Which?: text A|*text B|text C']],
    [
      'several choices',
      item({ cardinality: 'multiple', correct: ['A', 'B'] }, choices('maxChoices="0"')),
      ['Which?: *text A|*text B|text C several'],
    ],
    [
      'a right answer that is no option',
      item({ correct: ['D'] }, choices('maxChoices="1"')),
      ['1: The right answer “D” is not an option.'],
    ],
    [
      'two right answers of one choice',
      item({ correct: ['A', 'B'] }, choices('maxChoices="1"'), MATCH),
      ['Which?: *text A|*text B|text C'],
    ],
    [
      'mapped choices',
      item(
        { cardinality: 'multiple', mapping: mapping({ A: 2, B: 1, C: -1 }, 'lowerBound="0"') },
        choices('maxChoices="0"'),
        MAP,
      ),
      ['Which?: *text A|*text B|text C several (3 points)'],
    ],
    [
      'mapped choices with points below 0',
      item({ cardinality: 'multiple', mapping: mapping({ A: 1, B: 1, C: -1 }) }, choices('maxChoices="0"'), MAP),
      ['Which?: *text A|*text B|text C several (2 points; No question gives less than 0 points.)'],
    ],
    [
      'mapped choices with a default',
      item({ mapping: mapping({ A: 2 }, 'defaultValue="1"') }, choices('maxChoices="1"'), MAP),
      ['Which?: *text A|*text B|*text C (2 points)'],
    ],
    [
      'mapped choices with a limit',
      item({ cardinality: 'multiple', mapping: mapping({ A: 1, B: 1 }, 'upperBound="1"') }, choices('maxChoices="0"'), MAP),
      [`Which?\n\n- text A\n- text B\n- text C: text (${PEOPLE})`],
    ],
    ['no points', item({ mapping: mapping({ A: 0 }) }, choices('maxChoices="1"'), MAP), ['1: No answer gets points.']],
    [
      'a written condition',
      item({ correct: ['B'] }, choices('maxChoices="1"'), condition(`<match>${RESPONSE}</match>`, 3)),
      ['Which?: text A|*text B|text C (3 points)'],
    ],
    [
      'a condition that gives points to wrong answers',
      item({ correct: ['B'] }, choices('maxChoices="1"'), condition(`<match>${RESPONSE}</match>`, 3, 1)),
      [`Which?\n\n- text A\n- text B\n- text C: text (${PEOPLE})`],
    ],
    [
      'a negated condition',
      item({ correct: ['B'] }, choices('maxChoices="1"'), condition(`<not><match>${RESPONSE}</match></not>`, 3)),
      [`Which?\n\n- text A\n- text B\n- text C: text (${PEOPLE})`],
    ],
    [
      'scoring by an external program',
      item({ correct: ['B'] }, choices('maxChoices="1"'), '<responseProcessing template="https://example.com/own"/>'),
      [`Which?\n\n- text A\n- text B\n- text C: text (${PEOPLE})`],
    ],
    [
      'no scoring',
      item({ correct: ['B'] }, choices('maxChoices="1"'), ''),
      ['Which?: text A|*text B|text C (It does not say how it is scored: the correct answer gets all points.)'],
    ],
    [
      'neither scoring nor a right answer',
      item({}, choices('maxChoices="1"'), ''),
      [
        `Which?\n\n- text A\n- text B\n- text C: text (It does not say how it is scored: the correct answer gets all points.; ${PEOPLE})`,
      ],
    ],
    ['a short text', item({ baseType: 'string', correct: ['Lima'] }, ENTRY), ['The capital is _____.: =Lima']],
    [
      'mapped short texts',
      item({ baseType: 'string', mapping: mapping({ Lima: 2, lma: 1 }) }, ENTRY, MAP),
      ['The capital is _____.: =Lima|=lma 50% (2 points)'],
    ],
    [
      'a short text with an asterisk',
      item({ baseType: 'string', correct: ['a*b'] }, ENTRY),
      [`The capital is _____.: text (${PEOPLE})`],
    ],
    ['an integer', item({ baseType: 'integer', correct: ['42'] }, ENTRY), ['The capital is _____.: #42']],
    [
      'a number with a tolerance',
      item(
        { baseType: 'float', correct: ['3.14'] },
        ENTRY,
        condition(`<equal toleranceMode="absolute" tolerance="0.01 0.01">${RESPONSE}</equal>`, 1),
      ),
      ['The capital is _____.: #3.14±0.01 (1 points)'],
    ],
    [
      'a tolerance in percent',
      item(
        { baseType: 'float', correct: ['3.14'] },
        ENTRY,
        condition(`<equal toleranceMode="relative" tolerance="5 5">${RESPONSE}</equal>`, 1),
      ),
      [`The capital is _____.: text (${PEOPLE})`],
    ],
    [
      'an inline choice',
      item(
        { correct: ['b'] },
        '<p>Pick <inlineChoiceInteraction responseIdentifier="RESPONSE" shuffle="true"><inlineChoice identifier="a">one</inlineChoice><inlineChoice identifier="b">two</inlineChoice></inlineChoiceInteraction></p>',
      ),
      ['Pick _____: one|*two'],
    ],
    [
      'a text',
      item(
        { baseType: 'string' },
        '<extendedTextInteraction responseIdentifier="RESPONSE"><prompt>Tell us.</prompt></extendedTextInteraction>',
        '',
      ),
      ['Tell us.: text'],
    ],
    [
      'pairs',
      item({ cardinality: 'multiple', baseType: 'directedPair', correct: ['x q', 'y p'] }, pairs),
      [`Match: X->Q|Y->P|->R (${PARTS})`],
    ],
    [
      'mapped pairs',
      item({ cardinality: 'multiple', baseType: 'directedPair', mapping: mapping({ 'x q': 1, 'y p': 1 }) }, pairs, MAP),
      ['Match: X->Q|Y->P|->R (2 points)'],
    ],
    [
      'a prompt with two choices',
      item({ cardinality: 'multiple', baseType: 'directedPair', correct: ['x q', 'x p'] }, pairs),
      ['1: The prompt “X” fits 2 choices instead of one.'],
    ],
    [
      'an order',
      item(
        { cardinality: 'ordered', correct: ['B', 'A'] },
        '<orderInteraction responseIdentifier="RESPONSE" shuffle="true"><prompt>Order</prompt><simpleChoice identifier="A">a</simpleChoice><simpleChoice identifier="B">b</simpleChoice></orderInteraction>',
      ),
      [`Order: b < a (${PARTS})`],
    ],
    [
      'an unknown interaction',
      item({}, '<hotspotInteraction responseIdentifier="RESPONSE"><prompt>Where?</prompt></hotspotInteraction>'),
      ['1: Answers of the type “hotspot” can’t be imported.'],
    ],
    [
      'an unknown interaction with a text',
      item({}, '<p>Where?</p><sliderInteraction responseIdentifier="RESPONSE"/>'),
      ['1: Answers of the type “slider” can’t be imported.'],
    ],
    [
      'an upload',
      item({ baseType: 'file' }, '<p>Send it.</p><uploadInteraction responseIdentifier="RESPONSE"/>'),
      ['1: Answers of the type “upload” can’t be imported.'],
    ],
    [
      'two fields',
      item({ baseType: 'string', correct: ['x'] }, ENTRY + ENTRY),
      ['1: It has 2 answer fields. Only questions with one can be imported.'],
    ],
    ['no field', item({}, '<p>Read this.</p>'), ['1: It is a description without an answer.']],
    [
      'instructions and feedback',
      item(
        { correct: ['B'] },
        `<rubricBlock view="candidate"><p>Be quick.</p></rubricBlock>${choices('maxChoices="1"').replace('text C', 'text C<feedbackInline>no</feedbackInline>')}`,
      ),
      ['Which?: text A|*text B|text C (Instructions beside the question are not imported.; Feedback is not imported.)'],
    ],
    [
      'formatting',
      item(
        { baseType: 'string', correct: ['x'] },
        '<p>A <strong>bold</strong> &lt; <br/>line</p><p><textEntryInteraction responseIdentifier="RESPONSE"/></p>',
      ),
      ['A **bold** \\<\nline\n\n\\_\\_\\_\\_\\_: =x'],
    ],
    [
      'a variable template',
      item({ correct: ['B'] }, choices('maxChoices="1"')).replace(
        '<itemBody>',
        '<templateDeclaration identifier="T" cardinality="single" baseType="integer"/><itemBody>',
      ),
      ['1: Its values are drawn by a template, which can’t be imported.'],
    ],
    [
      'a prefix',
      item({ correct: ['B'] }, choices('maxChoices="1"')).replaceAll(/<(\/?)(?=[a-zA-Z])/g, '<$1qti:'),
      ['Which?: text A|*text B|text C'],
    ],
    ['a test', '<assessmentTest xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" identifier="t"/>', ['!qtiTest']],
    [
      'an element called as a property',
      item({ baseType: 'string', correct: ['x'] }, `<constructor>C</constructor>${ENTRY}`),
      ['C\nThe capital is _____.: =x'],
    ],
    ['damaged XML', '<assessmentItem><itemBody></assessmentItem>', ['!damagedXml']],
    ['a DOCTYPE', '<!DOCTYPE assessmentItem><assessmentItem/>', ['!doctype']],
  ])('imports or refuses %s', (_, xml, expected) => {
    expect(outcome(Buffer.from(xml))).toEqual(expected)
  })

  const PNG = Buffer.from('iVBORw0KGgo=', 'base64')
  const manifest = (...paths: string[]) =>
    `<manifest xmlns="http://www.imsglobal.org/xsd/imscp_v1p1"><resources>${paths.map((path, i) => `<resource identifier="r${i}" type="imsqti_item_xmlv2p1" href="${path}"><file href="${path}"/></resource>`).join('')}<resource type="imsqti_test_xmlv2p1" href="test.xml"/></resources></manifest>`

  it('reads the items of a package in the order of its manifest, with their pictures', () => {
    const bytes = packageOf({
      'imsmanifest.xml': manifest('items/My%20B.xml', 'a.xml', 'gone.xml', 'bad.xml', 'doctype.xml'),
      'a.xml': item({ correct: ['A'] }, choices('maxChoices="1"')),
      'items/My B.xml': item(
        { baseType: 'string', correct: ['x'] },
        '<p><img src="../img/dot.png" alt="dot"/> What?</p><textEntryInteraction responseIdentifier="RESPONSE"/>',
      ),
      'bad.xml': '<assessmentItem>\n<itemBody>',
      'doctype.xml': '<!DOCTYPE x><assessmentItem/>',
      'img/dot.png': PNG.toString('latin1'),
    })
    expect(outcome(bytes).map((line) => line.replace(/asset:[0-9a-f-]{36}/, 'asset:0'))).toEqual([
      '![dot](asset:0) What?\n_____: =x',
      'Which?: *text A|text B|text C',
      '3: The package has no file “gone.xml”.',
      '4: The file “bad.xml” is damaged in line 2.',
      '5: The file “doctype.xml” has a DOCTYPE.',
    ])
    expect(readFile(bytes, 10).rows[0]).toMatchObject({ question: { files: [{ name: 'dot.png' }] } })
  })

  it('encodes a picture once for all items that show it', () => {
    const shown = (path: string) => item({ baseType: 'string' }, `<p><img src="${path}" alt=""/> What?</p>${ENTRY}`)
    const bytes = packageOf({
      'imsmanifest.xml': manifest('a.xml', 'b/c.xml'),
      ...{ 'a.xml': shown('dot.png'), 'b/c.xml': shown('../dot.png') },
      'dot.png': PNG.toString('latin1'),
    })
    const [first, second] = readFile(bytes, 10).rows.map((read) => ('question' in read ? read.question.files : undefined))
    expect(first).toHaveLength(1)
    expect(second?.[0]).toBe(first?.[0])
  })

  it('rejects a package without items, and too many items', () => {
    expect(outcome(packageOf({ 'imsmanifest.xml': manifest() }))).toEqual(['!empty'])
    expect(outcome(packageOf({ 'imsmanifest.xml': manifest('constructor') }))).toEqual([
      '1: The package has no file “constructor”.',
    ])
    const many = Array.from({ length: 101 }, (_, i) => `${i}.xml`)
    expect(outcome(packageOf({ 'imsmanifest.xml': manifest(...many) }))).toEqual(['!tooManyRows'])
  })
})

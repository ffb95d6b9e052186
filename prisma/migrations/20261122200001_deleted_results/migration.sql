-- A result counts no more once its submission is deleted. Before that, while its release and its paper are there. Of a whole assessment or
-- organization the sums go by themselves.
CREATE FUNCTION "subtract_release"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM assessments a JOIN organizations o ON o.id = a.organization_id
    WHERE a.organization_id = OLD.organization_id AND a.id = OLD.assessment_id
  ) THEN RETURN OLD; END IF;
  -- Locked in the order in which releases count, so that neither locks the other out.
  PERFORM FROM question_results q
  WHERE q.organization_id = OLD.organization_id AND q.assessment_id = OLD.assessment_id AND q.question_id IN (
    SELECT question_id FROM paper_questions WHERE organization_id = OLD.organization_id AND submission_id = OLD.id
  ) ORDER BY q.question_id FOR NO KEY UPDATE;
  UPDATE question_results AS kept SET
    results = kept.results - gone.results, points = kept.points - gone.points, of_points = kept.of_points - gone.of_points
  FROM (
    SELECT p.question_id, count(*) AS results, sum(g.points) AS points, sum(p.points) AS of_points
    FROM (SELECT grades FROM releases WHERE organization_id = OLD.organization_id AND submission_id = OLD.id ORDER BY version DESC LIMIT 1) AS newest
    CROSS JOIN jsonb_to_recordset(newest.grades) AS g (number int, points numeric)
    JOIN paper_questions p ON p.organization_id = OLD.organization_id AND p.submission_id = OLD.id AND p.number = g.number
    WHERE g.points IS NOT NULL AND p.points > 0
    GROUP BY p.question_id
  ) AS gone
  WHERE kept.organization_id = OLD.organization_id AND kept.assessment_id = OLD.assessment_id AND kept.question_id = gone.question_id;
  RETURN OLD;
END $$;
CREATE TRIGGER "submissions_deleted" BEFORE DELETE ON "submissions"
  FOR EACH ROW WHEN (OLD.released_at IS NOT NULL) EXECUTE FUNCTION "subtract_release"();

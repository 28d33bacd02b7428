"""Sentences with places to fill: what people write to an assistant, with names and without.

`{p}` a person in any form, `{f}` a first name, `{l}` a last name, `{i}` a title; the others are never
names: `{o}` company, `{c}` place, `{w}` product, `{g}` people or language, `{b}` other capitalised
phrase, `{j}` job, `{a}` street address, `{e}` e-mail, `{t}` telephone, `{d}` date, `{n}` number,
`{m}` weekday or month, `{k}` anything of these that is capitalised.
"""

from __future__ import annotations

TEMPLATES = tuple(
    """\
My name is {p}.
My name is {p} and I work at {o} as a {j}.
Hi, I am {p}, a {j} from {c}.
I'm {f}, nice to meet you!
Hi {f}, thanks for your message about {b}. See you on {m}.
Hello {f},\\n\\nplease find the {b} attached.\\n\\nBest regards,\\n{p}
Dear {i} {l},\\n\\nwe received your application for the position of {j} in {c}.\\n\\nKind regards,\\n{p}\\n{o}
Dear {p},\\nYour order {n} has shipped to {a}.
Write an email to {p} asking for the {b}.
Write a letter to {i} {l} at {o} to complain about my new {w}.
Draft a message to {f} saying that I can't come on {m}.
Please call {p} at {t} before {m}.
You can reach {p} at {e} or {t}.
Contact: {p}, {t}, {e}
Name: {p}\\nPhone: {t}\\nAddress: {a}
Name: {p}\\nEmail: {e}\\nCompany: {o}\\nCity: {c}
name,email,city\\n{p},{e},{c}\\n{p},{e},{c}\\n{p},{e},{c}
id;name;phone\\n{n};{p};{t}\\n{n};{p};{t}
{{"name": "{p}", "email": "{e}", "city": "{c}"}}
{{"customer": "{p}", "product": "{w}", "amount": {n}}}
[{{"first_name": "{f}", "last_name": "{l}", "country": "{c}"}}]
| {p} | {j} | {c} |\\n| {p} | {j} | {c} |
- {p} ({j})\\n- {p} ({j})\\n- {p} ({j})
Attendees: {p}, {p}, {p}
Participants: {f}, {f} and {f}
From: {p} <{e}>\\nTo: {p} <{e}>\\nSubject: {b}
{f}: Did you see the {b}?\\n{f}: Not yet, I was in {c}.\\n{f}: OK.
{p}: How can I help you?\\n{f}: I need a {w} by {m}.
[{d}] {f}: meeting moved to {m}\\n[{d}] {f}: ok, I'll tell {f}
{p} lives at {a}.
{p} was born on {d} in {c}.
{p} moved from {c} to {c} in {m}.
{p} has worked for {o} since {d}.
{p} and {p} founded {o} in {c}.
{p}, the {j} of {o}, said on {m} that sales in {c} rose.
According to {p}, the {w} release was delayed.
"We are happy," said {p}, {j} at {o}.
"I never saw it," {f} said. "Ask {f}."
The patient, {p}, aged {n}, was admitted to {b} on {d}.
Patient {p} reports headaches since {m}.
Landlord: {p}\\nTenant: {p}\\nRent: {n} per month
This agreement is made between {o} and {p} on {d}.
I, {p}, residing at {a}, declare that the above is true.
Signed by {p} on {d}.
{p}'s lawyer filed the case in {c}.
{p}'s doctor recommended a {g} diet.
My neighbour {p} plays the piano every {m}.
My friend {f} speaks {g} and {g}.
My wife {f} and my son {f} are flying to {c} on {m}.
My boss {f} {l} wants the {b} by {m}.
My colleague {p} from {o} asked about {w}.
Our {j} {p} will visit {c} in {m}.
Can you summarise the feedback of {p} about {w}?
Who is {p}?
What did {p} write about the {b}?
Tell me about {p}, the {g} {j}.
Translate into {g}: "{p} is waiting for you in {c}."
Translate this into {g}: My name is {p}.
Fix the grammar: {f} go to {c} last {m}.
{f} has {n} apples. {f} gives {n} of them to {f}. How many apples does {f} have left?
{f} bought {n} books for ${n} each, and {f} bought twice as many. How much did they spend together?
{f} and {f} are driving from {c} to {c} at {n} miles per hour. When does {f} arrive?
If {f} is {n} years old and {f} is twice as old, how old will {f} be in {n} years?
{i} {l} teaches {n} students in {c} on {m}.
{i} {l} will see you now.
I have an appointment with {i} {l} on {m}.
Please remind {i} {p} to bring the {b}.
{i} and {i} {l} bought a house in {c}.
Write a story about a girl called {f} who finds a {w} in {c}.
Write a poem for my daughter {f}.
Write a birthday card for {f}, who loves {g} food.
Give me a bio for {p}, {j} at {o} in {c}.
Here is my resume. {p}, {e}, {t}. Experience: {j} at {o} (2019-2024). Skills: {w}, {w}, {w}.
CV\\n{p}\\n{a}\\n{t}\\n\\nEducation\\n{b}, {c}
{p}\\n{j}\\n{o}\\n{a}\\n{t}
{p}\\n{a}
{p}\\n\\n{a}\\n{c}
Regards,\\n{p}
Thanks,\\n{f}
Cheers, {f}
Sincerely,\\n{p}\\n{j}, {o}
cc: {p}; {p}
Assigned to {p} by {p} on {d}
@{f} please review the {w} change before {m}.
Reviewed-by: {p} <{e}>
Author: {p} <{e}>\\nDate: {d}
Co-authored-by: {p} <{e}>
# written by {p}, {d}
# TODO({f}): use {w} here
// Copyright 2024 {p}
author = "{p}"
user.name = "{p}"
students = ["{f}", "{f}", "{f}", "{f}"]
print("Hello, {f}!")
INSERT INTO users VALUES ({n}, '{p}', '{e}');
SELECT * FROM customers WHERE name = '{p}';
Wire ${n} to {p}, {o}, account {n}.
The parcel for {p} is at the {c} post office.
Please change the name on my ticket to {p}.
Book a table for {p} on {m} at {n}.
I'd like to remove {p} from my account.
The card is in the name of {p}.
Please send it to {p}, {a}.
Ticket {n}: {p} cannot log in to {w}.
{p} won the {b} in {c} last {m}.
{p} played {w} with {p} in {c}.
Have you read the {l} report on {w}?
Did you hear the {l} interview on {m}?
{l} et al. (2019) show that {w} works.
{l} and {l} (2020) disagree with {l}.
In 1998 {l} joined {o}.
Yesterday {f} showed me the {b}.
Then {f} asked whether {f} would come to {c}.
After lunch {f} took the train to {c}.
Why did {f} leave?
Is {f} coming on {m}?
Ask {f} about the {b}.
Tell {f} I said hi.
Give this to {f}, please.
Let {f} know that {o} called.
Thank you, {f}.
Thanks {f}!
Sorry, {f}, I was late.
Good morning {f}
I talked to {p} yesterday.
I met {p} and her husband {f} in {c}.
The meeting with {p} and {i} {l} is on {m}.
{p} (born {d}) is a {g} {j}.
{p} vs. {p}, {c} court, {d}
Interview with {p}\\nQ: Why {w}?\\nA: Because of {o}.
Insured: {p}\\nPolicy: {n}\\nDate: {d}
Employee {p} has {n} days of leave.
Student: {p}, grade {n}
Emergency contact: {p} ({t})
Beneficiary: {p}
Guest list: {p}; {p}; {p}; {p}
Happy birthday, {f}!
RIP {p}.
By {p}\\n{c}, {m}
Photo: {p}
Directed by {p}, starring {p} and {p}
I love the new song by {p}.
Who is taller, {p} or {p}?
How do I use {w} with {w}?
What is the capital of {c}?
Compare {w} and {w} for a {j}.
I live in {c} and I speak {g}.
We moved here from {c} in {m}.
Please explain the {b} in simple words.
Write an essay about the {b}.
Plan a trip to {c}, {c} and {c} in {m}.
How far is {c} from {c}?
I work for {o}.
{o} opened an office in {c} on {m}.
{o} is a design agency based in {c}.
The {o} orchestra was founded in {n}.
{o} bought {o} for {n} dollars.
{w} 3.2 was released on {m}.
Install {w} on {w} and run it.
Deploy {w} to {w} with {w}.
Error: {w} is not installed. Try again.
Traceback: {w} failed in {w}
The {g} word for house is different from the {g} word.
In {c}, the {g} community celebrates {b} every {m}.
Is {w} better than {w}?
Send it to {a}.
My address is {a}, {c}.
The store at {a} is closed on {m}.
Office hours: {m} to {m}, {n} to {n}.
The {b} is due on {m}, {d}.
Subject: {b}
# {b}\\n\\n## {b}\\n\\nSee {w}.
1. {b}\\n2. {b}\\n3. {b}
| {b} | {w} | {c} |
{k} and {k} are different things.
{k} is better known than {k}.
What is {k}?
Tell me about {k}.
Thanks for {k}!
I read about {k} in the {b}.
Explain {k} to a child.
According to {k}, {w} is popular in {c}.
The {k} report on {w} is out.
Have you been to {k}?
Ask {k} about it.
{k}, {k}, {k} and {k}
{k}\\n{k}\\n{k}
- {k}\\n- {k}
{k}: {k}
The {j} went to {c} last {m}.
I am a {j} and I want to learn {g}.
As a {j}, I need {w}.
I'd like to return my {w}.
My {w} does not work since {m}.
Summarise the history of {c}.
Classify the text as Positive or Negative: {o} makes great {w}.
Answer with True or False. {c} is bigger than {c}.
What are my options?
Can you help me with my {b}?
Question: Which of the following is true about {k}?\\nA. {b}\\nB. {w}\\nC. {k}\\nD. {c}
Options: (A) {k} (B) {k} (C) {k}
How do I get from {c} to {c} on {m}?
The {g} {j} lives in {c}.
Great {g} food near {c}?
{b} at {o}, {c}
Call {o} at {t}.
Email {e} about {w}.
Visit {o} in {c}.
Buy {w} at {o}.
Ticket {n}: {w} is slow on {w}.
class {w}Client:\\n    pass
import {w}
SELECT {w} FROM {w} WHERE city = '{c}';
{{"city": "{c}", "product": "{w}", "company": "{o}"}}
city,product,company\\n{c},{w},{o}\\n{c},{w},{o}
""".replace("\\n", "\x00").splitlines()
)
"""A zero byte stands for the end of a line."""

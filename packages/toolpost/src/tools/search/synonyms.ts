/** Words that people and the authors of tools use for one another, a line for each meaning. */
export const SYNONYMS: readonly string[] = `
add create make new insert append register generate write compose draft set start
begin start launch initiate
delete remove erase drop destroy discard trash clear rid purge forget uninstall wipe
list show display enumerate browse available all which exist have every
get fetch retrieve read obtain details describe about info information view look see tell inspect
find search lookup locate query seek discover look where
update edit modify change alter adjust replace rewrite amend revise patch fix correct
send post publish deliver submit tell inform announce write
upload push put attach import
save store write keep put
download pull fetch export
copy duplicate clone fork
move rename relocate transfer put drag
run execute invoke call launch perform trigger
stop cancel abort halt terminate kill end quit close finish
close shut dismiss
open launch start visit
pause suspend hold
restart reboot reload refresh rollout
undo revert rollback back restore
enable activate on
disable deactivate off
approve accept confirm allow permit allowed permitted review
reject decline deny refuse review
compare diff difference changes changed
merge combine join accept integrate
count number many total amount
sum add plus calculate compute math arithmetic
check verify validate test status
status state condition progress finished done running check
file document text doc attachment
folder directory
tree hierarchy structure nested
path location place
image picture photo screenshot media snapshot
screenshot picture image capture
screencast video record recording film
video movie clip film record
audio sound voice music song
message chat mail email note text
reaction emoji thumbs like
thread discussion conversation replies
channel room workspace
user person people member account profile contact colleague developer employee everybody who
workspace team organization org company
customer client buyer
issue ticket bug problem
close update resolve
assign update
comment reply respond answer review write
reviewer review approve approved
pull merge request pr proposal
branch line
commit change history
repository repo project code codebase source
code source function program script javascript snippet
release version tag
log logs output history record printed console
history past recent earlier lately previous earlier before checks
error failure exception crash problem broken
database db table sql rows
select query filter rows sql
row record entry item
column field property
page website site web url link address article
url link address
crawl website site pages every whole
scrape extract content text page article pull
map urls links
research investigate report study depth
paper papers article scientific arxiv publication
cite citation related reference
browser tab window page
tab page window
click press tap button hit
type enter fill input write field box
form fields registration
navigate go visit open
dialog alert popup confirm
hover mouse
key keyboard press hit
emulate simulate dark mode slow network
network request requests traffic
performance fast slow speed load loads trace
memory heap heapsnapshot ram
accessibility seo audit lighthouse
css style styles rules
weather forecast rain sun
temperature warm cold hot heat thermostat degrees
light lamp bulb dim brightness
switch toggle turn select context
lock unlock door
device gadget appliance sensor
directions route way drive driving
distance far travel
elevation height high altitude mountain
geocode coordinates latitude longitude address
address location coordinates
place business restaurant pharmacy shop store pizzeria local
nearby near around local
time clock date day calendar now current today
last modified metadata info
size large big space sizes
event meeting appointment schedule calendar
reminder remind alarm timer
price cost pay payment charge money bill invoice
order purchase buy
refund return
subscription plan
product item goods
stock inventory
news headlines latest current
translate language
summarize summary brief overview
knowledge memory graph remember recall know stored
entity node person thing everything
relation link connection relationship connect
observation fact note
monitor watch watching track changes
think thinking reason thought step problem
permission access rights allowed
password secret credential key token
environment variable env setting configuration config
pod container
deploy deployment apply release ship yaml manifest
scale replicas copies resize
node server machine host cluster maintenance drain
port tunnel forward connection reach
shell command exec execute
resize bigger smaller size
kubernetes cluster kubectl k8s
helm chart release
upgrade update newer version
documentation docs manual how library package
library package framework
agent assistant
parse convert turn
notification alert notify warning
chart graph plot diagram
convert transform format turn
compress zip gzip archive
wait until
back previous before
calendar event meeting appointment schedule agenda date reminder slot
free busy available availability time slot
cancel delete remove call
reschedule postpone update move shift delay
attendee guest participant invite people
invite add member share attendee
email mail message inbox letter correspondence
email mail gmail outlook
draft compose prepare write
forward send share pass
reply answer respond response
label tag category folder
archive store old hide close
spam junk filter
filter rule automatic automatically criteria
unread new inbox
sms text message phone
call phone ring dial telephone
contact person phone address
customer client buyer user account
pay payment charge money transfer bill
transfer send money wire move funds
money funds cash euro dollar amount balance
balance account money funds
invoice bill charge receipt
refund money return back reimburse
price cost fee rate amount
subscription plan membership monthly recurring
dispute chargeback contest complaint
transaction payment purchase spend spending expense
expense spend cost spending
bank account money
order purchase buy checkout cart
product item article goods merchandise sell
ship shipping delivery deliver package parcel track
stock share market ticker quote
play music song track start listen
music song track album artist playlist audio
playlist mix collection queue
queue next list
skip next
volume loud louder quiet quieter sound
pause stop hold resume
movie film video show
transcript subtitle caption text said speech
podcast episode show
task todo item action chore
complete finish done close resolve mark
remind reminder task alarm
priority urgent important
due deadline date
ticket issue bug task story card
sprint iteration
board list card column
card item ticket task
transition status move change
worklog time spent hours log
estimate points time
project workspace space
epic feature story
light lamp bulb lights brightness
turn switch toggle power
thermostat temperature heating climate warm warmer cool cooler degrees
climate temperature heating air
blind cover shutter curtain shade garage
lock door secure close
vacuum clean cleaning robot floor
alarm security siren
camera picture image video
scene mood
fan air
sensor reading measure state value
state status current running value
container docker image
image docker build
service daemon process
deploy deployment release publish ship
build compile make
pipeline workflow job ci action run
server machine host instance vm
cloud aws s3 bucket storage azure
bucket storage folder container
object file blob
upload put store save send
backup copy dump snapshot export
restore recover undelete back
key value entry
cache set store redis
expire expiration ttl minutes
error exception crash failure bug stacktrace trace
stacktrace stack trace error
alert warning alarm incident notification
incident outage alert
metric measurement figure statistic chart
dashboard chart report
monitor watch observe check
weather forecast rain snow sun umbrella storm temperature
storm warning alert weather
wind weather
flight plane airline fly airport trip
hotel room stay accommodation sleep night
book reserve booking reservation
train bus ticket travel ride
travel trip journey vacation holiday
car drive taxi ride
restaurant food eat dinner lunch meal cafe
recipe cook food meal ingredient
meal food eat calories
sleep rest night
exercise workout run steps activity
health medical doctor
translate language say
dictionary define definition meaning word
grammar spelling correct
pdf document file pages
page sheet document
spreadsheet sheet table excel cells
row record line entry
column field attribute property
cell value
slide presentation deck
word document doc
note diary journal memo write
vault notes
append add extend end
merge combine join concatenate unite together single
split divide separate extract
extract pull get take
resize scale shrink smaller larger bigger enlarge crop
rotate flip turn
draw paint generate picture create image
generate create produce make write
icon image svg picture asset
design layout figma mockup
color colour
font text style
role permission moderator admin rights
member user person people
server guild community
channel room group chat
post message publish share tweet
tweet post status
like favorite star upvote heart
follow subscribe watch
friend contact follower
profile bio about title
photo picture image shot
share send link publish
link connect attach relate
password credential login secret
login authenticate sign session
token key secret
encrypt decrypt cipher protect
scan detect find check
virus malware security
domain dns website name
certificate ssl tls
network wifi internet connection
ip address network
ping reach alive responsive check
latency speed slow fast
cpu memory usage load
disk space storage size
process program application app
install add setup
uninstall remove delete
version release update
dependency package library module
test check verify
lint format style
refactor rewrite change
branch line feature
commit change save revision
diff difference compare change
review feedback comment opinion verdict approve
approve accept confirm allow
reject deny decline refuse
assign owner give responsible
owner own who user belongs
creator author who
created creation date made when
modified changed date when
verdict review decision
land merge
main base branch
unresolved open
reported report issue
remark comment note
survey form question poll
vote poll
quiz question
random dice chance number
convert change transform turn unit currency
currency money exchange rate
calculate compute math sum
average mean statistics
time zone timezone clock
date day calendar
countdown timer alarm
near nearby close around
street road address
map location place directions
route directions way path drive
sea level elevation
opening hours details open
phone number details contact
ocr text read image scan
speech voice say speak audio
speak say voice read aloud
record recording capture save
stream live broadcast
subscribe register sign
unsubscribe leave remove
notify notification tell inform alert
announce tell post message
tell send message inform
chat message conversation talk talking
talk talking conversation messages history
talked messages history conversation
said message text content
contain contents content read
contents content read text
anything search find
named name search
somewhere search find where
pics pictures images photos files
documents files pages
logs log output printed
printed print output log console
print output log
hold contain content
relation relationship married connect related
forget delete remove
store save add keep remember
know remember memory
dump export all entire whole read
whole entire all complete full
complete entire full
empty new clear
fresh new
old previous
copy duplicate fork clone
swap replace change edit
overwrite replace write
shift move
grab get read fetch take
snap take capture screenshot
accept handle confirm
popped dialog alert popup
choose select pick option
pick choose select
dropdown select option
box field input
attach upload file
cv resume file document
wait until pause appear
shows appear visible
finished done complete status
leak memory heap
slowly slow performance
film record video screencast
hook function
according docs documentation
service cordon drain node
repair fix maintenance
customers users rows
signed registered created
month date time
ads clean
download get fetch save crawl
whenever monitor watch change
scientific research paper
`
  .trim()
  .split('\n')
